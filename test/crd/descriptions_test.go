package crd

import (
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	earlyv1alpha1 "github.com/firesteel-dev/firesteel/pkg/apis/early/v1alpha1"
	firesteelv1alpha1 "github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
)

// kinds are the types of the CRDs in config.
var kinds = map[string]any{
	"300-early-sparkapplication.yaml":                  earlyv1alpha1.SparkApplication{},
	"300-scheduledsparkapplication.yaml":               firesteelv1alpha1.ScheduledSparkApplication{},
	"300-sparkapplication.yaml":                        sparkv1.SparkApplication{},
	"300-sparkcluster.yaml":                            sparkv1.SparkCluster{},
	"300-sparkoperator-scheduledsparkapplication.yaml": v1beta2.ScheduledSparkApplication{},
	"300-sparkoperator-sparkapplication.yaml":          v1beta2.SparkApplication{},
}

// The fields are those of the Go types, whatever the generator made of them.
func TestFieldsOfFiresteelHaveDescriptions(t *testing.T) {
	for _, file := range manifests(t) {
		kind, known := kinds[filepath.Base(file)]
		if !known {
			t.Errorf("%s: add its type to kinds", file)
			continue
		}
		crd, _ := load(t, file)
		for _, version := range crd.Spec.Versions {
			if strings.Contains(file, "sparkoperator") && !version.Storage {
				continue // with descriptions in each version the CRD would be too large for kubectl apply
			}
			t.Run(filepath.Base(file)+"/"+version.Name, func(t *testing.T) {
				schema := version.Schema.OpenAPIV3Schema
				if schema.Description == "" {
					t.Error("the kind has no description")
				}
				for _, field := range []string{"spec", "status"} {
					property := schema.Properties[field]
					checkDescription(t, field, field, property.Description)
					described, _ := reflect.TypeOf(kind).FieldByName(strings.ToUpper(field[:1]) + field[1:])
					checkDescriptions(t, field, &property, described.Type)
				}
			})
		}
	}
}

// checkDescriptions reports fields of our types without a description, and descriptions inside Kubernetes' types.
func checkDescriptions(t *testing.T, path string, schema *apiextensionsv1.JSONSchemaProps, described reflect.Type) {
	t.Helper()
	switch described.Kind() {
	case reflect.Pointer:
		checkDescriptions(t, path, schema, described.Elem())
	case reflect.Slice:
		if schema.Items != nil {
			checkDescriptions(t, path+"[]", schema.Items.Schema, described.Elem())
		}
	case reflect.Map:
		if values := schema.AdditionalProperties; values != nil && values.Schema != nil {
			checkDescriptions(t, path+"[]", values.Schema, described.Elem())
		}
	case reflect.Struct:
		if !strings.HasPrefix(described.PkgPath(), "github.com/firesteel-dev/") {
			checkNone(t, path, schema)
			return
		}
		for i := range described.NumField() {
			field := described.Field(i)
			name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
			property, ok := schema.Properties[name]
			switch {
			case name == "-":
			case name == "" && slices.Contains(strings.Split(options, ","), "inline"):
				checkDescriptions(t, path, schema, field.Type)
			case !ok:
				t.Errorf("%s.%s is not in the CRD", path, name)
			default:
				checkDescription(t, path+"."+name, name, property.Description)
				checkDescriptions(t, path+"."+name, &property, field.Type)
			}
		}
	}
}

// checkDescription wants a description to begin with the name that users write, as those of Kubernetes do.
func checkDescription(t *testing.T, path, name, description string) {
	t.Helper()
	switch {
	case !strings.HasPrefix(description, name+" "):
		t.Errorf("%s: the comment of the field does not begin with %q: %q", path, name, description)
	case !strings.HasSuffix(description, "."):
		t.Errorf("%s: the comment of the field is no sentence: %q", path, description)
	case strings.Contains(strings.ReplaceAll(description, "\n\n", ""), "\n"):
		t.Errorf("%s: kubectl explain would print the line breaks of the comment: %q", path, description)
	}
}

func checkNone(t *testing.T, path string, schema *apiextensionsv1.JSONSchemaProps) {
	t.Helper()
	for name, property := range schema.Properties {
		if property.Description != "" {
			t.Errorf("%s.%s is Kubernetes' own, and has a description: %q", path, name, property.Description)
		}
		checkNone(t, path+"."+name, &property)
	}
	if schema.Items != nil {
		checkNone(t, path+"[]", schema.Items.Schema)
	}
	if values := schema.AdditionalProperties; values != nil && values.Schema != nil {
		checkNone(t, path+"[]", values.Schema)
	}
}
