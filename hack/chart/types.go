package main

import (
	"fmt"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
)

// quantities matches the quantities that Firesteel computes with.
const quantities = `^\s*[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][-+]?0*[0-9]{1,2})?\s*$`

// byType holds the schema of types that their Go type does not determine.
var byType = map[reflect.Type]schema{
	reflect.TypeFor[resource.Quantity]():     either(schema{"type": "number"}, matching(quantities)),
	reflect.TypeFor[intstr.IntOrString]():    {"type": []string{"integer", "string"}},
	reflect.TypeFor[sparkv1.RestartPolicy](): oneOf("", "Always", "Never", "OnFailure", "OnInfrastructureFailure"),
	reflect.TypeFor[sparkv1.RetainPolicy]():  oneOf("", "Always", "OnFailure", "Never"),
}

// typed returns the schema of what decodes into a type, with the fields of the type and no others.
func typed[T any]() schema { return schemaOfType(reflect.TypeFor[T]()) }

func schemaOfType(t reflect.Type) schema {
	if found := byType[t]; found != nil {
		return found
	}
	switch t.Kind() {
	case reflect.Pointer:
		return schemaOfType(t.Elem())
	case reflect.Struct:
		o := closed()
		for i := range t.NumField() {
			name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
			allow(o, name, schemaOfType(t.Field(i).Type))
		}
		return o
	case reflect.Slice:
		return listOf(schemaOfType(t.Elem()))
	case reflect.Map:
		return mapOf(schemaOfType(t.Elem()))
	case reflect.String:
		return text()
	case reflect.Bool:
		return schema{"type": "boolean"}
	case reflect.Int32, reflect.Int64:
		return schema{"type": "integer"}
	default:
		panic(fmt.Sprintf("the type %s has no schema: give it one in hack/chart/types.go", t))
	}
}

// tolerations returns the schema of applicationTolerations.
func tolerations() schema {
	all := typed[sparkv1.ApplicationTolerations]()
	for object, fields := range map[string][]string{
		"restartConfig": {
			"maxRestartAttempts", "restartBackoffMillis", "maxRestartOnFailure", "restartBackoffMillisForFailure",
			"maxRestartOnSchedulingFailure", "restartBackoffMillisForSchedulingFailure",
		},
		"instanceConfig": {"initExecutors", "minExecutors", "maxExecutors"},
	} {
		properties := all["properties"].(schema)[object].(schema)["properties"].(schema)
		for _, field := range fields {
			properties[field].(schema)["minimum"] = 0
		}
	}
	return all
}
