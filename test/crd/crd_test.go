// Package crd checks the CRDs in config with the API server's own code: that it takes them, and what it does to
// the objects that they describe.
package crd

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsvalidation "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kubejson "k8s.io/apimachinery/pkg/util/json"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"
	"sigs.k8s.io/yaml"

	"github.com/firesteel-dev/firesteel/pkg/check"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/manifest/schema"
)

const manifestDir = "../../config"

// maxSize bounds the size of a CRD. A client-side kubectl apply stores it in an annotation, and all of those together may have
// 256 KiB.
const maxSize = 200 * 1000

// manifests are the files of all CRDs, those of optional APIs in folders of their own.
func manifests(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(manifestDir, "300-*.yaml"))
	optional, err2 := filepath.Glob(filepath.Join(manifestDir, "*", "300-*.yaml"))
	if err != nil || err2 != nil || len(files) == 0 || len(optional) == 0 {
		t.Fatalf("CRDs in %s are %v and %v: %v, %v", manifestDir, files, optional, err, err2)
	}
	return append(files, optional...)
}

func TestCRDs(t *testing.T) {
	for _, file := range manifests(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			external, internal := load(t, file)
			if errs := apiextensionsvalidation.ValidateCustomResourceDefinition(t.Context(), internal); len(errs) > 0 {
				t.Errorf("the API server refuses it: %v", errs.ToAggregate())
			}
			text, err := json.Marshal(external)
			if err != nil {
				t.Fatal(err)
			}
			if len(text) > maxSize {
				t.Errorf("%d bytes of JSON, which kubectl apply stores as an annotation, are too many", len(text))
			}
			if external.Spec.Conversion != nil && external.Spec.Conversion.Strategy != apiextensionsv1.NoneConverter {
				t.Errorf("conversion %s needs a webhook", external.Spec.Conversion.Strategy)
			}
		})
	}
}

// A resource is one version of a CRD, applied as the API server applies it.
type resource struct {
	structural *structuralschema.Structural
	schema     validation.SchemaValidator
	rules      *cel.Validator
}

// resources caches the resources: it takes a while to compile their rules.
var resources = map[string]resource{}

func newResource(t *testing.T, file, version string) resource {
	t.Helper()
	if made, known := resources[file+version]; known {
		return made
	}
	_, crd := load(t, filepath.Join(manifestDir, file))
	schema, err := apiextensions.GetSchemaForVersion(crd, version)
	if err != nil {
		t.Fatal(err)
	}
	structural, err := structuralschema.NewStructural(schema.OpenAPIV3Schema)
	if err != nil {
		t.Fatal(err)
	}
	validator, _, err := validation.NewSchemaValidator(schema.OpenAPIV3Schema)
	if err != nil {
		t.Fatal(err)
	}
	made := resource{
		structural: structural,
		schema:     validator,
		rules:      cel.NewValidator(structural, true, celconfig.PerCallLimit),
	}
	resources[file+version] = made
	return made
}

// admit decodes an object, prunes and defaults it as a create does, and returns what is refused about it.
func (r resource) admit(t *testing.T, text []byte) (object map[string]any, refusal error) {
	t.Helper()
	object = decode(t, text)
	pruning.Prune(object, r.structural, true)
	defaulting.PruneNonNullableNullsWithoutDefaults(object, r.structural)
	defaulting.Default(object, r.structural)
	refusal = r.refuse(t, object)
	if refusal != nil {
		wantRefusedOffline(t, text, refusal)
	}
	return object, refusal
}

// schemas are those with which kubectl spark lint checks manifests.
var schemas schema.Schemas

// wantRefusedOffline fails the test if kubectl spark lint has no error for what the API server refuses. It evaluates no rule in CEL: the checks in
// Go find the same.
func wantRefusedOffline(t *testing.T, text []byte, refusal error) {
	t.Helper()
	manifest, err := yaml.YAMLToJSON(text)
	if err != nil {
		t.Fatal(err)
	}
	given, err := check.Decode(manifest)
	if err != nil {
		return // that is an error, too
	}
	found, _ := check.Examine(given, config.Default(), time.Date(2026, 11, 26, 0, 0, 0, 0, time.UTC), check.AsBuilt)
	var header metav1.TypeMeta
	if err := json.Unmarshal(manifest, &header); err != nil {
		t.Fatal(err)
	}
	bySchema, err := schemas.Check(header.GroupVersionKind().GroupKind(), manifest)
	if err != nil {
		t.Fatal(err)
	}
	if all := slices.Concat(found, bySchema); len(all.Of(finding.Error)) == 0 {
		t.Errorf("the API server refuses it (%v), and kubectl spark lint does not: %v", refusal, all)
	}
}

// refuse validates a create.
func (r resource) refuse(t *testing.T, object map[string]any) error {
	t.Helper()
	errs := validation.ValidateCustomResource(nil, object, r.schema)
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, r.structural, object)...)
	violations, _ := r.rules.Validate(t.Context(), nil, r.structural, object, nil, celconfig.RuntimeCELCostBudget)
	return append(errs, violations...).ToAggregate()
}

// refuseUpdate validates an update of the object or of its status. Earlier errors may stay.
func (r resource) refuseUpdate(t *testing.T, object, old map[string]any) error {
	t.Helper()
	correlated := common.NewCorrelatedObject(object, old, &model.Structural{Structural: r.structural})
	errs := validation.ValidateCustomResourceUpdate(nil, object, old, r.schema, validation.WithRatcheting(correlated))
	violations, _ := r.rules.Validate(
		t.Context(), nil, r.structural, object, old, celconfig.RuntimeCELCostBudget, cel.WithRatcheting(correlated))
	return append(errs, violations...).ToAggregate()
}

// unknown returns the fields of an object that kubectl apply refuses, since the schema does not have them.
func (r resource) unknown(t *testing.T, text []byte) []string {
	t.Helper()
	return pruning.PruneWithOptions(decode(t, text), r.structural, true,
		structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
}

func load(t *testing.T, file string) (*apiextensionsv1.CustomResourceDefinition, *apiextensions.CustomResourceDefinition) {
	t.Helper()
	external, internal := &apiextensionsv1.CustomResourceDefinition{}, &apiextensions.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(read(t, file), external); err != nil {
		t.Fatal(err)
	}
	defaulted := external.DeepCopy()
	apiextensionsv1.SetDefaults_CustomResourceDefinition(defaulted)
	apiextensionsv1.SetDefaults_CustomResourceDefinitionSpec(&defaulted.Spec)
	if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(defaulted, internal, nil); err != nil {
		t.Fatal(err)
	}
	// The API server sets these on create.
	for _, version := range internal.Spec.Versions {
		if version.Storage {
			internal.Status.StoredVersions = []string{version.Name}
		}
	}
	return external, internal
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// decode reads YAML with numbers as the API server has them. No key may be there twice.
func decode(t *testing.T, text []byte) map[string]any {
	t.Helper()
	text, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		t.Fatal(err)
	}
	var object map[string]any
	if err := kubejson.Unmarshal(text, &object); err != nil {
		t.Fatal(err)
	}
	return object
}
