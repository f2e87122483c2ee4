package early_test

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/firesteel-dev/firesteel/pkg/apis/early/v1alpha1"
)

// Each field and each spelling is on the page for users.
func TestThePageNamesEveryField(t *testing.T) {
	page, err := os.ReadFile("../../../docs/users/early.md")
	if err != nil {
		t.Fatal(err)
	}
	named := func(path string, first bool) bool {
		name := path[strings.LastIndex(path, ".")+1:]
		return strings.Contains(string(page), "`"+path+"`") || !first && strings.Contains(string(page), "`"+name+"`")
	}
	var check func(prefix string, of reflect.Type, first bool)
	check = func(prefix string, of reflect.Type, first bool) {
		for i := range of.NumField() {
			field := of.Field(i)
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			switch {
			case field.Type.Kind() == reflect.Struct && strings.HasPrefix(field.Type.PkgPath(), "github.com/firesteel-dev/"):
				check(prefix+name+".", field.Type, first)
			case name == "firesteel":
			case !named(prefix+name, first):
				t.Errorf("docs/users/early.md does not name %s", prefix+name)
			}
		}
	}
	check("", reflect.TypeFor[v1alpha1.SparkApplicationSpec](), false)
	check("", reflect.TypeFor[v1alpha1.SparkApplicationStatus](), true)
}
