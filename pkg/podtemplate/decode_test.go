package podtemplate_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/podtemplate"
)

const labelledPod = `
# A template of Spark's documentation has this shape.
---
apiVersion: v1
kind: Pod
metadata:
  labels: {team: a}
spec:
  containers:
  - resources: {limits: {nvidia.com/gpu: 1}}
  priorityClassName: high
---
# The end.
`

func TestTemplatesAreDecodedFromPodsAndPodTemplates(t *testing.T) {
	for name, test := range map[string]struct {
		text    string
		dropped []string
	}{
		"a Pod": {text: labelledPod},
		"a Pod, in JSON": {
			text: `{"apiVersion":"v1","kind":"Pod","metadata":{"labels":{"team":"a"}},` +
				`"spec":{"containers":[{"resources":{"limits":{"nvidia.com/gpu":1}}}],"priorityClassName":"high"}}`,
		},
		"a PodTemplate": {
			text: strings.NewReplacer("kind: Pod", "kind: PodTemplate\ntemplate:", "\nmeta", "\n  meta", "\nspec", "\n  spec", "\n  ", "\n    ").
				Replace(labelledPod),
		},
		"a field that there is not": {
			text:    strings.Replace(labelledPod, "spec:", "spec:\n  priority_class: high", 1),
			dropped: []string{`unknown field "spec.priority_class" is dropped: correct its spelling to priorityClassName`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, dropped, err := podtemplate.Decode([]byte(test.text))
			if err != nil {
				t.Fatal(err)
			}
			if got.Labels["team"] != "a" || got.Spec.PriorityClassName != "high" || len(got.Spec.Containers) != 1 ||
				got.Spec.Containers[0].Resources.Limits.Name("nvidia.com/gpu", "").Value() != 1 {
				t.Errorf("the template is %+v", got)
			}
			if diff := cmp.Diff(test.dropped, errorsOf(dropped)); diff != "" {
				t.Errorf("dropped (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDecodeOfABarePod(t *testing.T) {
	got, _, err := podtemplate.Decode([]byte("apiVersion: v1\nkind: Pod\nmetadata: {name: base}\nstatus: {phase: Running}\n"))
	if diff := cmp.Diff(&corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Name: "base"}}, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestDecodeBoundsTheListOfUnknownFields(t *testing.T) {
	text := "apiVersion: v1\nkind: Pod\n"
	for i := range 10 {
		text += fmt.Sprintf("x%d%s: 1\n", i, strings.Repeat("x", 1000))
	}
	_, dropped, err := podtemplate.Decode([]byte(text))
	if err != nil || len(dropped) != 5 || dropped[4].Error() != "6 fields more are dropped" {
		t.Fatalf("dropped %q, %v", dropped, err)
	}
	if len(dropped[0].Error()) > 320 {
		t.Errorf("%d characters about a field", len(dropped[0].Error()))
	}
}

func TestDecodeRefusesOtherObjects(t *testing.T) {
	for name, test := range map[string]struct{ text, says string }{
		"nothing":           {"", ""},
		"comments":          {"# nothing\n---\n# here\n", ""},
		"a web page":        {"<html><body>Sign in</body></html>", ""},
		"another kind":      {"apiVersion: apps/v1\nkind: Deployment\n", `it is a "Deployment" of "apps/v1"`},
		"no kind":           {"spec: {containers: []}\n", `it is a "" of ""`},
		"a list":            {"[]", ""},
		"many documents":    {strings.Repeat("---\n# nothing\n", 100), "it holds more than 16 documents"},
		"two Pods":          {labelledPod + "---\nkind: Pod\n", "it holds several documents"},
		"a key twice":       {"apiVersion: v1\nkind: Pod\nkind: Pod\n", "kind"},
		"a text for a list": {"apiVersion: v1\nkind: Pod\nspec: {containers: none}\n", "containers"},
		"no YAML":           {"\x00\x01", ""},
		"a quantity that is none": {
			"apiVersion: v1\nkind: Pod\nspec: {containers: [{resources: {limits: {memory: 2GB}}}]}\n", `spec.containers[0].resources.limits.memory "2GB" is no quantity (`,
		},
		"a quantity that takes hours to read": {
			"apiVersion: v1\nkind: Pod\nspec: {containers: [{resources: {limits: {cpu: '1e-2147483647'}}}]}\n", `spec.containers[0].resources.limits.cpu "1e-2147483647" is a quantity with an exponent of 10 digits`,
		},
		"aliases of aliases": {
			"a: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\n" +
				"d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: [*e,*e,*e,*e,*e,*e,*e,*e,*e,*e]\n",
			"excessive aliasing",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := podtemplate.Decode([]byte(test.text))
			var refusal *finding.Finding
			if !errors.As(err, &refusal) || !strings.HasPrefix(refusal.Message, "is no template of a pod (") ||
				!strings.Contains(refusal.Message, test.says) {
				t.Errorf("error is %v, want it to say %q", err, test.says)
			}
		})
	}
}

func TestDecodeDropsFinalizers(t *testing.T) {
	for _, manifest := range []string{
		"{apiVersion: v1, kind: Pod, metadata: {finalizers: [example.org/a]}}",
		"{apiVersion: v1, kind: PodTemplate, template: {metadata: {finalizers: [example.org/a]}}}",
	} {
		template, dropped, err := podtemplate.Decode([]byte(manifest))
		if err != nil || len(template.Finalizers) > 0 || len(dropped) != 1 || !strings.Contains(dropped[0].Error(), `metadata.finalizers "example.org/a" has no effect`) {
			t.Errorf("%s: it has %v, and %q is dropped (%v)", manifest, template.Finalizers, dropped, err)
		}
	}
}

func errorsOf(found finding.List) []string {
	var texts []string
	for _, f := range found {
		texts = append(texts, f.Error())
	}
	return texts
}
