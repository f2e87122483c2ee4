package parity

import (
	"cmp"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	earlyv1alpha1 "github.com/firesteel-dev/firesteel/pkg/apis/early/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/sparksubmit"
)

func TestSubmissionEqualsSparkSubmit(t *testing.T) {
	meant, err := LoadDeviations()
	if err != nil {
		t.Fatal(err)
	}
	for _, version := range Versions {
		recordings, err := Load(version)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range Cases(version) {
			t.Run(version+"/"+c.Name, func(t *testing.T) {
				recorded, err := recordings.Of(c)
				if err != nil {
					t.Fatal(err)
				}
				comparisons := []Comparison{direct(c, version, recorded), throughApache(t, c, version, recorded)}
				if c.InKubeflow() {
					comparisons = append(comparisons, throughKubeflow(t, c, version, recorded))
				}
				if c.InEarly() {
					comparisons = append(comparisons, throughEarly(t, c, version, recorded))
				}
				if version == Versions[len(Versions)-1] { // a command line is read in the same way for each
					comparisons = append(comparisons, throughCommandLine(t, c, version, recorded)...)
				}
				for _, comparison := range comparisons {
					for _, wrong := range comparison.Wrong(meant) {
						t.Errorf("%s: %v", cmp.Or(comparison.API, "submission"), wrong)
					}
				}
			})
		}
	}
	for _, deviation := range meant.Unused() {
		t.Errorf("nothing needs the deviation %+v", deviation)
	}
}

func direct(c Case, version string, recorded *Recording) Comparison {
	built, refusal := c.Build(version, c.Namespace())
	return Comparison{Case: c, Version: version, Recorded: recorded, Built: Normal(built), Refusal: refusal}
}

func throughApache(t *testing.T, c Case, version string, recorded *Recording) Comparison {
	t.Helper()
	manifest, err := c.Manifest(version, c.Namespace())
	if err != nil {
		t.Fatal(err)
	}
	app, err := Decode(manifest)
	if err != nil {
		t.Fatal(err)
	}
	return inApache(c, version, recorded, app)
}

func throughKubeflow(t *testing.T, c Case, version string, recorded *Recording) Comparison {
	t.Helper()
	manifest, err := c.KubeflowManifest(version, c.Namespace())
	if err != nil {
		t.Fatal(err)
	}
	app, err := DecodeKubeflow(manifest)
	if err != nil {
		t.Fatal(err)
	}
	return inKubeflow(c, version, recorded.Kubeflow(c, "1"), app)
}

func throughEarly(t *testing.T, c Case, version string, recorded *Recording) Comparison {
	t.Helper()
	manifest, err := c.EarlyManifest(version, c.Namespace())
	if err != nil {
		t.Fatal(err)
	}
	app, err := DecodeEarly(manifest)
	if err != nil {
		t.Fatal(err)
	}
	return inEarly(c, version, recorded, app)
}

func inApache(c Case, version string, recorded *Recording, app *sparkv1.SparkApplication) Comparison {
	built, refusal := c.BuildApache(app)
	return Comparison{
		Case: c, Version: version, API: Apache, Recorded: recorded.Apache(c),
		Built: Normal(built), Refusal: refusal, Message: RefusalInApache(refusal, app),
	}
}

// inKubeflow compares an application with what is wanted of it in this API.
func inKubeflow(c Case, version string, wanted *Recording, app *v1beta2.SparkApplication) Comparison {
	built, refusal := c.BuildKubeflow(app)
	return Comparison{
		Case: c, Version: version, API: Kubeflow, Recorded: wanted,
		Built: Normal(built), Refusal: refusal, Message: RefusalInKubeflow(refusal, app),
	}
}

func inEarly(c Case, version string, recorded *Recording, app *earlyv1alpha1.SparkApplication) Comparison {
	built, refusal := c.BuildEarly(app)
	return Comparison{
		Case: c, Version: version, API: Early, Recorded: recorded.Early(c, app),
		Built: Normal(built), Refusal: refusal, Message: RefusalInEarly(refusal, app),
	}
}

// throughCommandLine compares what the command line of spark-submit becomes in each API, if it is not refused before as spark-submit does.
func throughCommandLine(t *testing.T, c Case, version string, recorded *Recording) []Comparison {
	t.Helper()
	s, refusal := c.Submission(version)
	switch {
	case refusal != nil && recorded.RefusedBy == "":
		t.Errorf("spark-submit accepts the command line, Firesteel does not: %v", refusal)
		return nil
	case refusal != nil:
		return nil
	}
	comparisons := []Comparison{applicationOfLine(t, c, version, recorded, s)}
	if c.InKubeflow() {
		comparisons = append(comparisons, kubeflowOfLine(t, c, version, recorded, s))
	}
	if c.InEarly() {
		comparisons = append(comparisons, earlyOfLine(t, c, version, recorded, s))
	}
	return comparisons
}

func manifestOf(t *testing.T, app sparksubmit.Object) []byte {
	t.Helper()
	manifest, err := yaml.Marshal(app)
	if err != nil {
		t.Fatal(err)
	}
	return manifest
}

func applicationOfLine(t *testing.T, c Case, version string, recorded *Recording, s *sparksubmit.Submission) Comparison {
	t.Helper()
	app, err := Decode(manifestOf(t, s.Apache(appName, s.Namespace)))
	if err != nil {
		t.Fatal(err)
	}
	return inApache(c, version, recorded, app)
}

func kubeflowOfLine(t *testing.T, c Case, version string, recorded *Recording, s *sparksubmit.Submission) Comparison {
	t.Helper()
	app, err := DecodeKubeflow(manifestOf(t, s.Kubeflow(appName, s.Namespace)))
	if err != nil {
		t.Fatal(err)
	}
	wanted := recorded.Kubeflow(c, "2")
	for _, role := range roles { // the image is a field, which that operator hands on for each role
		if app.Spec.Image != "" && wanted.RefusedBy == "" {
			wanted.Fields[propertiesOf+"spark.kubernetes."+role+".container.image"] = app.Spec.Image
		}
	}
	return inKubeflow(c, version, wanted, app)
}

func earlyOfLine(t *testing.T, c Case, version string, recorded *Recording, s *sparksubmit.Submission) Comparison {
	t.Helper()
	manifest, found := s.Early(appName, s.Namespace)
	if len(found) > 0 {
		t.Fatal(found)
	}
	app, err := DecodeEarly(manifestOf(t, manifest))
	if err != nil {
		t.Fatal(err)
	}
	return inEarly(c, version, recorded, app)
}

func TestEveryRecordingIsOfACase(t *testing.T) {
	for _, version := range Versions {
		recordings, err := Load(version)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range recordings.Strangers(Cases(version)) {
			t.Errorf("%s: %s is of no case", version, name)
		}
	}
}

func TestTheRecordingsStaySmall(t *testing.T) {
	const limit = 4 << 20
	size := int64(0)
	err := filepath.WalkDir("testdata", func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		size += info.Size()
		return err
	})
	if err != nil || size > limit {
		t.Errorf("the recordings take %d bytes: %v", size, err)
	}
}

func TestCasesAreNamedOnceAndFitForNamespaces(t *testing.T) {
	for _, version := range Versions {
		seen := map[string]bool{}
		for _, c := range Cases(version) {
			namespace := c.Namespace()
			if seen[c.Name] || len(namespace) > 40 || namespace != strings.ToLower(namespace) {
				t.Errorf("%s: bad name %q", version, c.Name)
			}
			seen[c.Name] = true
		}
	}
}
