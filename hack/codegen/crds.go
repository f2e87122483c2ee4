package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/firesteel-dev/firesteel/pkg/crds"
)

// definitions are the CRDs by the names that controller-gen gives to their files.
var definitions = map[string]definition{
	"spark.apache.org_sparkapplications.yaml": {
		file:        "300-sparkapplication.yaml",
		types:       "pkg/apis/spark/v1",
		older:       []string{"v1beta1", "v1alpha1"},
		refinements: applicationRefinements,
	},
	"spark.apache.org_sparkclusters.yaml": {
		file:        "300-sparkcluster.yaml",
		types:       "pkg/apis/spark/v1",
		older:       []string{"v1beta1", "v1alpha1"},
		refinements: clusterRefinements,
	},
	"firesteel.dev_scheduledsparkapplications.yaml": {
		file:  "300-scheduledsparkapplication.yaml",
		types: "pkg/apis/firesteel/v1alpha1",
	},
	"sparkoperator.k8s.io_scheduledsparkapplications.yaml": {
		file:  "300-sparkoperator-scheduledsparkapplication.yaml",
		types: "pkg/apis/sparkoperator/v1beta2",
		older: []string{"v1beta1", "v1alpha1"}, undescribed: true,
	},
	"sparkoperator.k8s.io_sparkapplications.yaml": {
		file:        "300-sparkoperator-sparkapplication.yaml",
		types:       "pkg/apis/sparkoperator/v1beta2",
		older:       []string{"v1beta1", "v1alpha1"},
		undescribed: true,
		refinements: sparkOperatorRefinements,
	},
	"spark-operator.k8s.io_sparkapplications.yaml": {
		file:        "early/300-early-sparkapplication.yaml",
		types:       "pkg/apis/early/v1alpha1",
		refinements: earlyRefinements,
	},
}

// definition describes what to do with one CRD of controller-gen.
type definition struct {
	// file is the path of the CRD's file below config. That of an optional API is in the folder of its component.
	file string
	// types is the package from which the CRD is generated.
	types string
	// older are versions that are served as well, with the schema of the stored version.
	older []string
	// undescribed leaves the descriptions out of the older versions: with them the CRD would be too large for kubectl apply.
	undescribed bool
	// refinements are what its schema requires beyond the types.
	refinements []refinement
}

// generateCRDs writes the CRDs into config, and the reference of their fields.
func generateCRDs(root string) error {
	made, err := os.MkdirTemp("", "firesteel-crds-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(made)

	err = goRun(root, []string{
		"tool", "-modfile=tools/go.mod", "controller-gen", "crd", "paths=./pkg/apis/...", "output:crd:dir=" + made,
	})
	if err != nil {
		return err
	}
	types, err := readAPITypes(root)
	if err != nil {
		return err
	}
	var written []*apiextensionsv1.CustomResourceDefinition
	for _, source := range slices.Sorted(maps.Keys(definitions)) {
		crd, err := definitions[source].write(filepath.Join(made, source), filepath.Join(root, "config"), types)
		if err != nil {
			return fmt.Errorf("%s: %w", definitions[source].file, err)
		}
		written = append(written, crd)
	}
	if err := writeSchemas(root, written); err != nil {
		return err
	}
	return writeReference(root, written, types)
}

// schemaDir holds the schemas with which the command line checks manifests.
const schemaDir = "pkg/manifest/schema"

// writeSchemas writes the schema of each kind for pkg/manifest/schema. All versions of a kind have the same one.
func writeSchemas(root string, crds []*apiextensionsv1.CustomResourceDefinition) error {
	for _, crd := range crds {
		schema := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.DeepCopy()
		visit(schema, func(schema *apiextensionsv1.JSONSchemaProps) { schema.Description, schema.XValidations = "", nil })
		delete(schema.Properties, "status") // no user writes it
		text, err := json.Marshal(schema)
		if err != nil {
			return err
		}
		name := fmt.Sprintf("zz_generated.%s_%s.json", crd.Spec.Group, strings.ToLower(crd.Spec.Names.Kind))
		if err := os.WriteFile(filepath.Join(root, schemaDir, name), append(text, '\n'), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// write completes a CRD of controller-gen's and writes it into a folder.
func (d definition) write(source, dir string, types apiTypes) (*apiextensionsv1.CustomResourceDefinition, error) {
	text, err := os.ReadFile(source)
	if err != nil {
		return nil, err
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(text, crd); err != nil {
		return nil, err
	}
	if err := d.complete(crd, types); err != nil {
		return nil, err
	}
	if text, err = d.render(crd); err != nil {
		return nil, err
	}
	file := filepath.Join(dir, filepath.FromSlash(d.file))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return nil, err
	}
	return crd, os.WriteFile(file, text, 0o644)
}

// complete adds to a CRD what markers in the types cannot express.
func (d definition) complete(crd *apiextensionsv1.CustomResourceDefinition, types apiTypes) error {
	delete(crd.Annotations, "controller-gen.kubebuilder.io/version")
	crd.Labels = map[string]string{"app.kubernetes.io/part-of": "firesteel"}
	stored := &crd.Spec.Versions[0]
	types.describe(stored.Schema.OpenAPIV3Schema, types.of(crd))
	visit(stored.Schema.OpenAPIV3Schema, boundIntegers)
	for _, refinement := range d.refinements {
		if err := refinement.apply(stored.Schema.OpenAPIV3Schema, strings.FieldsFunc(refinement.path, isDot)); err != nil {
			return err
		}
	}
	for _, name := range d.older {
		version := stored.DeepCopy()
		version.Name, version.Storage = name, false
		if d.undescribed {
			visit(version.Schema.OpenAPIV3Schema, func(schema *apiextensionsv1.JSONSchemaProps) { schema.Description = "" })
		}
		crd.Spec.Versions = append(crd.Spec.Versions, *version)
	}
	schema, err := identify(crd.Spec)
	metav1.SetMetaDataAnnotation(&crd.ObjectMeta, crds.AnnotationSchema, schema)
	return err
}

// identify returns what changes with the spec of a CRD, but for descriptions. The controller compares it with that of the CRD in the
// cluster.
func identify(spec apiextensionsv1.CustomResourceDefinitionSpec) (string, error) {
	spec = *spec.DeepCopy()
	for _, version := range spec.Versions {
		visit(version.Schema.OpenAPIV3Schema, func(schema *apiextensionsv1.JSONSchemaProps) { schema.Description = "" })
	}
	text, err := json.Marshal(spec)
	return fmt.Sprintf("%.8x", sha256.Sum256(text)), err
}

func isDot(r rune) bool { return r == '.' }

// boundIntegers gives every 32-bit integer its bounds. The API server checks bounds but not the format, and an object with a
// larger number could not be decoded. The API server itself refuses numbers of more than 64 bits.
func boundIntegers(schema *apiextensionsv1.JSONSchemaProps) {
	if schema.Type != "integer" || schema.Format != "int32" {
		return
	}
	if schema.Minimum == nil {
		schema.Minimum = ptr.To[float64](math.MinInt32)
	}
	if schema.Maximum == nil {
		schema.Maximum = ptr.To[float64](math.MaxInt32)
	}
}

// visit changes a schema and all schemas inside it.
func visit(schema *apiextensionsv1.JSONSchemaProps, change func(*apiextensionsv1.JSONSchemaProps)) {
	change(schema)
	for name, property := range schema.Properties {
		visit(&property, change)
		schema.Properties[name] = property
	}
	if schema.Items != nil {
		visit(schema.Items.Schema, change)
	}
	if schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil {
		visit(schema.AdditionalProperties.Schema, change)
	}
}

// render writes a CRD as a person would write it: without the status that only the API server fills.
func (d definition) render(crd *apiextensionsv1.CustomResourceDefinition) ([]byte, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(crd)
	if err != nil {
		return nil, err
	}
	delete(content, "status")
	text, err := yaml.Marshal(content)
	if err != nil {
		return nil, err
	}
	header := fmt.Sprintf("# Code generated by hack/codegen from %s. DO NOT EDIT.\n", d.types)
	return bytes.Join([][]byte{[]byte(header), text}, nil), nil
}
