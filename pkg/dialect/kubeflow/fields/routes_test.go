package fields_test

import (
	"bytes"
	_ "embed"
	"reflect"
	"slices"
	"strings"
	"testing"
	"text/template"

	"github.com/google/go-cmp/cmp"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/fields"
	"github.com/firesteel-dev/firesteel/test/harness/golden"
	"github.com/firesteel-dev/firesteel/test/harness/pages"
)

//go:generate go test -run TestReferenceIsCurrent -update .

const reference = "../../../../docs/users/kubeflow.md"

//go:embed testdata/kubeflow.md.tmpl
var page string

// TestReferenceIsCurrent keeps the documentation of the fields what the table says.
func TestReferenceIsCurrent(t *testing.T) {
	var want bytes.Buffer
	tables := struct{ Routes, PodRoutes []fields.Route }{fields.Routes, fields.PodRoutes}
	if err := template.Must(template.New("").Parse(page)).Execute(&want, tables); err != nil {
		t.Fatal(err)
	}
	if err := pages.Current(reference, want.Bytes(), *golden.Update, "go generate ./pkg/dialect/kubeflow/fields"); err != nil {
		t.Error(err)
	}
}

func TestEveryFieldHasARoute(t *testing.T) {
	pods := fieldsOf(reflect.TypeFor[v1beta2.SparkPodSpec](), "", "gpu")
	wantRoutes(t, fields.PodRoutes, pods)
	var own []string
	for _, field := range fieldsOf(reflect.TypeFor[v1beta2.SparkApplicationSpec](), "", "") {
		_, ofPods, _ := strings.Cut(field, ".")
		shared, _, _ := strings.Cut(ofPods, ".")
		if !strings.HasPrefix(field, "driver.") && !strings.HasPrefix(field, "executor.") || !slices.Contains(pods, shared) {
			own = append(own, field)
		}
	}
	wantRoutes(t, fields.Routes, own)
}

func wantRoutes(t *testing.T, routes []fields.Route, paths []string) {
	t.Helper()
	var routed []string
	for _, route := range routes {
		routed = append(routed, route.Field)
		if route.Driver == fields.Nothing && route.Executor == fields.Nothing {
			t.Errorf("%s concerns neither role", route.Field)
		}
	}
	slices.Sort(paths)
	slices.Sort(routed)
	if diff := cmp.Diff(paths, routed); diff != "" {
		t.Errorf("fields without route, and routes without field (-fields +routes):\n%s", diff)
	}
}

// fieldsOf are the paths of a type's fields, as manifests have them: those of structs of the API's own within, and the
// others as one. The one that is called whole is one, too.
func fieldsOf(of reflect.Type, prefix, whole string) []string {
	var fields []string
	for i := range of.NumField() {
		field := of.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		within := field.Type
		for within.Kind() == reflect.Pointer || within.Kind() == reflect.Slice && prefix+name == "driverIngressOptions" {
			within = within.Elem()
		}
		switch {
		case name == "-":
		case options == "inline":
			fields = append(fields, fieldsOf(within, prefix, whole)...)
		case within.Kind() == reflect.Struct && within.PkgPath() == of.PkgPath() && name != whole:
			fields = append(fields, fieldsOf(within, prefix+name+".", whole)...)
		default:
			fields = append(fields, prefix+name)
		}
	}
	return fields
}
