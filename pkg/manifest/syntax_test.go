package manifest_test

import (
	"strings"
	"testing"

	"github.com/firesteel-dev/firesteel/pkg/manifest"
)

func TestATemplateIsKnownByItsFirstPart(t *testing.T) {
	for text, line := range map[string]int{
		"{{- if .Values.a }}\nkind: A\n": 1, "kind: A\n{{- if .a }}\nspec:\n  b: {{ .b }}\n{{ end }}\n": 2, "kind: A\nspec: {b: {{ .b }}}\n{{ end }}\n": 2,
	} {
		objects := manifest.Parse([]byte(text))
		if len(objects) != 1 || objects[0].Problem == nil || objects[0].Line != line || !strings.Contains(objects[0].Problem.Text, "is a template") {
			t.Errorf("%q: %+v", text, objects[0])
		}
	}
}

func TestMistakesOfYAMLAreFoundOnTheirLineWithARemedy(t *testing.T) {
	const before, after = "kind: A\nspec:\n  a: 1\n", "  z: 1\n  list:\n  - x\n"
	for name, test := range map[string]struct{ text, remedy string }{
		"too little indentation":   {" b: 2\n", "indent the line as its neighbours"},
		"too much indentation":     {"     b: 2\n", "indent the line as its neighbours"},
		"a tab":                    {"\tb: 2\n", "indent it by spaces"},
		"no blank after the colon": {"  b:2\n", "write a colon and a blank after the name"},
		"no colon":                 {"  b\n", "write a colon and a blank after the name"},
		"an open quote":            {"  b: \"2\n", "close the quotes"},
		"an open bracket":          {"  b: [1, 2\n", "close the bracket"},
		"text after a quote":       {"  b: 'it's'\n", "write its value in quotes"},
		"a colon in a value":       {"  b: c: d\n", "write its value in quotes"},
		"a sign":                   {"  b: @c\n", "write the value in quotes"},
		"an escape":                {"  b: \"\\d\"\n", "write the text in single quotes"},
		"an alias of nothing":      {"  b: *c\n", "define the anchor before its alias"},
		"another encoding":         {"  b: \xe9\n", "save the file as UTF-8"},
		"a template of Helm":       {"  b: {{ .Values.b }}\n", "render it first, such as by helm template CHART | kubectl spark lint -f -"},
	} {
		objects := manifest.Parse([]byte("kind: B\n---\n" + before + test.text + after))
		if len(objects) != 2 || objects[1].Problem == nil {
			t.Fatalf("%s: it is read", name)
		}
		if found := objects[1]; found.Line != 6 || !strings.Contains(found.Problem.Remedy, test.remedy) || found.Problem.Reason != "Syntax" {
			t.Errorf("%s: on line %d it is %q, want line 6 and %q", name, found.Line, found.Problem.Error(), test.remedy)
		}
	}
}
