package parity

import (
	"fmt"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/firesteel-dev/firesteel/pkg/convert"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// inAPI gives a case in an API.
type inAPI struct {
	api convert.API
	// fits reports whether the case can be given in it.
	fits     func(c Case) bool
	manifest func(c Case, version, namespace string) ([]byte, error)
	decode   func(manifest []byte) (runtime.Object, error)
	build    func(c Case, manifest []byte) ([]Object, error)
}

var inAPIs = []inAPI{
	{
		convert.Apache, func(Case) bool { return true }, Case.Manifest,
		func(manifest []byte) (runtime.Object, error) { return Decode(manifest) },
		func(c Case, manifest []byte) ([]Object, error) {
			app, err := Decode(manifest)
			if err != nil {
				return nil, err
			}
			return c.BuildApache(app)
		},
	},
	{
		convert.Kubeflow, Case.InKubeflow, Case.KubeflowManifest,
		func(manifest []byte) (runtime.Object, error) { return DecodeKubeflow(manifest) },
		func(c Case, manifest []byte) ([]Object, error) {
			app, err := DecodeKubeflow(manifest)
			if err != nil {
				return nil, err
			}
			return c.BuildKubeflow(app)
		},
	},
	{
		convert.Early, Case.InEarly, Case.EarlyManifest,
		func(manifest []byte) (runtime.Object, error) { return DecodeEarly(manifest) },
		func(c Case, manifest []byte) ([]Object, error) {
			app, err := DecodeEarly(manifest)
			if err != nil {
				return nil, err
			}
			return c.BuildEarly(app)
		},
	},
}

// TestConvertedApplicationsRunWithTheSameDriver converts each case from each API to the others. Every field of the objects is as the given
// manifest makes it, or as the same case in the other API has it: the operators' own labels and defaults. TestSubmissionEqualsSparkSubmit
// compares both with the recordings.
func TestConvertedApplicationsRunWithTheSameDriver(t *testing.T) {
	version, converted := Versions[len(Versions)-1], 0
	for _, c := range Cases(version) {
		if c.OfValue() {
			continue // a property more or less, which the other cases have, too
		}
		given := map[convert.API]*givenCase{}
		for _, api := range inAPIs {
			if api.fits(c) {
				given[api.api] = newGivenCase(t, c, version, api)
			}
		}
		for _, from := range inAPIs {
			for _, to := range inAPIs {
				if from.api == to.api || given[from.api] == nil || given[to.api] == nil || given[from.api].refused != nil {
					continue
				}
				if slices.Contains(writtenOtherwise[c.Name], fmt.Sprintf("%s to %s", from.api, to.api)) {
					continue
				}
				converted++
				t.Run(fmt.Sprintf("%s/%s to %s", c.Name, from.api, to.api), func(t *testing.T) {
					wantSameDriver(t, c, given[from.api], given[to.api], to)
				})
			}
		}
	}
	if converted < 300 {
		t.Errorf("only %d conversions were compared", converted)
	}
}

// writtenOtherwise are conversions after which a Pod is the same, but for what the other API writes in another form, by the names of cases.
var writtenOtherwise = map[string][]string{
	// The image refers to the number of executors, which no property has in the Apache operator's API, and always one in the other.
	"references-to-defaults": {"apache to kubeflow"},
	// Spark's container has another name, and so is the first one in the Kubeflow operator's API.
	"templates-of-named-containers": {"apache to kubeflow"},
	// Spark's container is the last one of a Pod in the Apache operator's API, and the first one in the other.
	"template-sidecar-of-sparks-name": {"kubeflow to apache"},
}

// givenCase is a case in an API.
type givenCase struct {
	object  runtime.Object
	fields  Fields
	refused error
}

func newGivenCase(t *testing.T, c Case, version string, api inAPI) *givenCase {
	t.Helper()
	manifest, err := api.manifest(c, version, c.Namespace())
	if err != nil {
		t.Fatal(err)
	}
	given := &givenCase{}
	if given.object, err = api.decode(manifest); err != nil {
		t.Fatal(err)
	}
	objects, refused := api.build(c, manifest)
	given.fields, given.refused = comparable(objects), refused
	return given
}

func wantSameDriver(t *testing.T, c Case, from, likewise *givenCase, to inAPI) {
	t.Helper()
	made, err := convert.To(to.api, from.object)
	if err != nil {
		t.Fatalf("it is not converted: %v", err)
	}
	text, err := yaml.Marshal(made.Object.Object)
	if err != nil {
		t.Fatal(err)
	}
	objects, err := to.build(c, text)
	if err != nil {
		t.Fatalf("what it is converted to is refused: %v\n%s", err, text)
	}
	if likewise.refused != nil {
		return // the operator's own labels and defaults are not known
	}
	got := comparable(objects)
	other := map[string]bool{}
	for _, difference := range Differences(likewise.fields, got) {
		other[difference.Field] = true
	}
	for _, difference := range Differences(from.fields, got) {
		if other[difference.Field] {
			t.Errorf("%s\n\tgiven:     %s\n\tconverted: %s", difference.Field, difference.Spark, difference.Firesteel)
		}
	}
}

// comparable returns the fields of objects with what two manifests may say in two ways: the image of each role, by its own property or by that
// of both, and the number of executors that Spark has without any. A driver does not read whether spark-submit waits.
func comparable(objects []Object) Fields {
	fields := Normal(objects)
	shared := fields[propertiesOf+imageKey]
	for _, role := range roles {
		key := propertiesOf + "spark.kubernetes." + role + ".container.image"
		if _, set := fields[key]; !set && shared != nil {
			fields[key] = shared
		}
	}
	delete(fields, propertiesOf+imageKey)
	delete(fields, propertiesOf+"spark.kubernetes.submission.waitAppCompletion")
	if fields[propertiesOf+"spark.executor.instances"] == fmt.Sprint(submission.DefaultExecutors) {
		delete(fields, propertiesOf+"spark.executor.instances")
	}
	return fields
}
