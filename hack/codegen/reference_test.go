package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

func TestDescriptionIsDividedIntoTextAndDefault(t *testing.T) {
	for _, c := range []struct{ field, description, text, stated string }{
		{"a", "a is a port. Default: 8090.", "A port.", "8090"},
		{"a", "a is a wait. Default: -1, never. Unit: seconds.", "A wait. Unit: seconds.", "-1, never"},
		{"a", "a is a URL. Default: https://kubernetes.default.svc.", "A URL.", "https://kubernetes.default.svc"},
		{"args", "args are what a* gets.\n\nOr a|b.", `What a\* gets.<br>Or a\|b.`, ""},
		{"a", "a holds it.", "Holds it.", ""},
		{"a", "", "", ""},
	} {
		if text, stated := splitDefault(c.field, c.description); text != c.text || stated != c.stated {
			t.Errorf("splitDefault(%q): %q and %q, want %q and %q", c.description, text, stated, c.text, c.stated)
		}
	}
}

func TestLimitsOfFieldsAreNamed(t *testing.T) {
	one, small, large := 1.0, float64(-1<<31), float64(1<<31-1)
	for want, schema := range map[string]apiextensionsv1.JSONSchemaProps{
		"":                              {Minimum: &small, Maximum: &large},
		" At least 1. At most 1.":       {Minimum: &one, Maximum: &one},
		" More than 1.":                 {Minimum: &one, ExclusiveMinimum: true},
		" One of `Allow`, `2`, `null`.": {Enum: []apiextensionsv1.JSON{{Raw: []byte(`""`)}, {Raw: []byte(`"Allow"`)}, {Raw: []byte(`2`)}, {Raw: []byte(`"2"`)}, {Raw: []byte(`null`)}}},
	} {
		if got := limits(&schema); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestTypesOfKubernetesLinkToItsReference(t *testing.T) {
	for name, want := range map[string]string{
		"k8s.io/api/core/v1.PodTemplateSpec":             "[PodTemplateSpec](" + kubernetesReference + "podtemplatespec-v1-core)",
		"k8s.io/api/networking/v1.IngressTLS":            "[IngressTLS](" + kubernetesReference + "ingresstls-v1-networking-k8s-io)",
		"k8s.io/apimachinery/pkg/apis/meta/v1.Condition": "[Condition](" + kubernetesReference + "condition-v1-meta)",
		"k8s.io/apimachinery/pkg/runtime.RawExtension":   "object",
		module + "/pkg/apis/spark/v1.RuntimeVersions":    "object",
	} {
		if got := kubernetesType(name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

func TestReferenceIsThatOfTheKubernetesThatIsCompiled(t *testing.T) {
	text, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	minor := regexp.MustCompile(`k8s\.io/api v0\.(\d+)\.`).FindSubmatch(text)
	if minor == nil {
		t.Fatal("go.mod does not name k8s.io/api")
	}
	if release := "/v1." + string(minor[1]) + "/"; !strings.Contains(kubernetesReference, release) {
		t.Errorf("%s is not of the release %s that go.mod names", kubernetesReference, release)
	}
}
