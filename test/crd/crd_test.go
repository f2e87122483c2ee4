// Package crd checks the CRDs in config with the API server's own code: that it takes them, and what it does to
// the objects that they describe.
package crd

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsvalidation "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	kubejson "k8s.io/apimachinery/pkg/util/json"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"
)

const config = "../../config"

// maxSize is what the annotation of a client-side kubectl apply holds.
const maxSize = 256 * 1024

func TestCRDs(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(config, "300-*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no CRDs in %s: %v", config, err)
	}
	for _, file := range files {
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
				t.Errorf("%d bytes are too many for kubectl apply", len(text))
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

func newResource(t *testing.T, file, version string) resource {
	t.Helper()
	_, crd := load(t, filepath.Join(config, file))
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
	return resource{
		structural: structural,
		schema:     validator,
		rules:      cel.NewValidator(structural, true, celconfig.PerCallLimit),
	}
}

// admit decodes an object, prunes and defaults it as a create does, and returns what is refused about it.
func (r resource) admit(t *testing.T, text []byte) (object map[string]any, refusal error) {
	t.Helper()
	object = decode(t, text)
	pruning.Prune(object, r.structural, true)
	defaulting.PruneNonNullableNullsWithoutDefaults(object, r.structural)
	defaulting.Default(object, r.structural)
	return object, r.refuse(t, object, nil)
}

// refuse validates an update, or a create where there is no old object.
func (r resource) refuse(t *testing.T, object, old map[string]any) error {
	t.Helper()
	errs := validation.ValidateCustomResource(nil, object, r.schema)
	var before any
	if old != nil {
		before = old
	}
	violations, _ := r.rules.Validate(t.Context(), nil, r.structural, object, before, celconfig.RuntimeCELCostBudget)
	return append(errs, violations...).ToAggregate()
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

// decode reads YAML with numbers as the API server has them.
func decode(t *testing.T, text []byte) map[string]any {
	t.Helper()
	text, err := yaml.YAMLToJSON(text)
	if err != nil {
		t.Fatal(err)
	}
	var object map[string]any
	if err := kubejson.Unmarshal(text, &object); err != nil {
		t.Fatal(err)
	}
	return object
}
