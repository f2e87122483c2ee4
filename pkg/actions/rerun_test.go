package actions

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Operators let no other name than the object's have an effect as spark.app.name.
func TestRerunGivesSparkTheNameOfTheNewObject(t *testing.T) {
	for _, test := range []struct{ property, name, want string }{
		{"etl", "", "etl-rerun-"}, {"etl", "again", "again"}, {"nightly report", "", "nightly report"},
	} {
		old := &unstructured.Unstructured{Object: map[string]any{
			"metadata": map[string]any{"name": "etl"}, "spec": map[string]any{"sparkConf": map[string]any{appNameKey: test.property}},
		}}
		again := anew(old, test.name)
		got, _, _ := unstructured.NestedString(again.Object, "spec", "sparkConf", appNameKey)
		if !strings.HasPrefix(got, test.want) || test.property == "etl" && got != again.GetName() {
			t.Errorf("spark.app.name %q of etl, named %q: %q of %q", test.property, test.name, got, again.GetName())
		}
	}
}
