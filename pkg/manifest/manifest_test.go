package manifest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/manifest"
)

const application = `# A comment.
apiVersion: spark.apache.org/v1
kind: SparkApplication
metadata:
  name: pi
  annotations: {firesteel.dev/active-deadline: soon}
spec:
  sparkConf:
    spark.driver.memory: 1g
    spark.driver.memoryOverhead: 2g
    "odd]key": x
  driverSpec:
    podTemplateSpec:
      spec:
        containers:
        - name: a
        - name: b
          env: &env
          - {name: X, value: "1"}
  executorSpec:
    podTemplateSpec:
      spec:
        containers:
        - name: c
          env: *env
`

func TestFieldsAreFoundOnTheirLine(t *testing.T) {
	text := "---\n---\n" + application
	objects := manifest.Parse([]byte(text))
	if len(objects) != 1 || objects[0].Problem != nil {
		t.Fatalf("%d objects", len(objects))
	}
	lines := strings.Split(text, "\n")
	for path, want := range map[string]string{
		"metadata.name": "  name: pi",
		"metadata.annotations[firesteel.dev/active-deadline]":          "  annotations: {firesteel.dev/active-deadline: soon}",
		"spec.sparkConf[spark.driver.memory]":                          "    spark.driver.memory: 1g",
		"spec.sparkConf[spark.driver.memoryOverhead]":                  "    spark.driver.memoryOverhead: 2g",
		"spec.sparkConf[odd]key]":                                      `    "odd]key": x`,
		"spec.sparkConf[absent]":                                       "  sparkConf:",
		"spec.mainClass":                                               "spec:",
		"spec.driverSpec.podTemplateSpec.spec.containers[1].name":      "        - name: b",
		"spec.driverSpec.podTemplateSpec.spec.containers[7].name":      "        containers:",
		"spec.executorSpec.podTemplateSpec.spec.containers[0].env[0]":  `          - {name: X, value: "1"}`,
		"spec.driverSpec.podTemplateSpec.spec.containers[1].env.value": "          env: &env",
		"":              "apiVersion: spark.apache.org/v1",
		"an annotation": "apiVersion: spark.apache.org/v1",
	} {
		line, column := objects[0].Place(finding.Finding{Field: path})
		if lines[line-1] != want || column < 1 {
			t.Errorf("%s is on line %d, %q, want %q", path, line, lines[line-1], want)
		}
	}
	if line, _ := objects[0].Place(finding.Finding{Text: `unknown value of spec.sparkConf, correct it`}); lines[line-1] != "  sparkConf:" {
		t.Errorf("a path within a text is on line %d", line)
	}
}

func TestFieldsAreFoundInEachDocumentAndItem(t *testing.T) {
	objects := manifest.Parse([]byte("kind: List\nitems:\n- kind: A\n  spec: 1\n- kind: B\n  spec: 2\n---\nkind: C\nspec: 3\n---\n{\"kind\": \"D\",\n\t\"spec\": 4}\n"))
	for range 2 {
		for i, want := range []int{4, 6, 9, 12} {
			if line, _ := objects[i].Place(finding.Finding{Field: "spec"}); line != want {
				t.Errorf("of %s it is on line %d, want %d", objects[i].Header.Kind, line, want)
			}
		}
	}
}

func TestDocumentsAndItemsOfListsAreObjectsOfTheirOwn(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want []string
	}{
		"none":                  {"", nil},
		"only comments":         {"# nothing\n---\n# here\n", nil},
		"two documents":         {"kind: A\n---\nkind: B\n", []string{"1 A", "3 B"}},
		"separators with more":  {"--- # first\nkind: A\n---   \nkind: B\n", []string{"2 A", "4 B"}},
		"a line that is none":   {"kind: A\ntext: |\n  x\n  ---\n", []string{"1 A"}},
		"Windows' line ends":    {"kind: A\r\n---\r\nkind: B\r\n", []string{"1 A", "3 B"}},
		"a byte order mark":     {"\ufeffkind: A\n", []string{"1 A"}},
		"a list":                {"kind: List\nitems:\n- kind: A\n- kind: B\n", []string{"3 A", "4 B"}},
		"a list of a kind":      {"kind: SparkApplicationList\nitems: [{kind: A}]\n", []string{"2 A"}},
		"an empty list":         {"kind: List\nitems: []\n", nil},
		"JSON with tabs":        {"{\n\t\"kind\": \"A\"\n}\n", []string{"1 A"}},
		"a stream of JSON":      {"{\"kind\": \"A\"}\n{\n\t\"kind\": \"B\"}{\"kind\": \"C\"}\n", []string{"1 A", "2 B", "3 C"}},
		"JSON and a comment":    {"{\n\t\"kind\": \"A\"\n} # here\n# and here\n", []string{"1 A"}},
		"a part of a stream":    {"{\"kind\": \"A\"}\n{\"kind\": B]\n", []string{"1 A", "2 the document is no YAML"}},
		"text after JSON":       {"{\n\t\"kind\": \"A\"\n}\nthis is junk: [\n", []string{"4 an object ends before this line, so that the line belongs to none: remove it, or write a line of --- before it"}},
		"text after braces":     {"{kind: A}\n\nkind: B\n", []string{"3 an object ends before this line, so that the line belongs to none: remove it, or write a line of --- before it"}},
		"the end of a document": {"kind: A\n...\n# nothing\n", []string{"1 A"}},
		"text after an end":     {"kind: A\n...\nkind: B\n", []string{"3 an object ends before this line, so that the line belongs to none: remove it, or write a line of --- before it"}},
		"text in a separator":   {"kind: A\n--- {kind: B}\n", []string{"2 the document is no YAML"}},
		"no object":             {"just text\n", []string{"1 "}},
		"no YAML":               {"kind: A\n---\nkind: {\n", []string{"1 A", "3 the document is no YAML"}},
		"no YAML in the middle": {"a: b\nc: d: e\n", []string{"2 the document is no YAML"}},
	} {
		var got []string
		for _, object := range manifest.Parse([]byte(test.text)) {
			text := object.Header.Kind
			if object.Problem != nil {
				text, _, _ = strings.Cut(object.Problem.Error(), " (")
			}
			got = append(got, fmt.Sprintf("%d %s", object.Line, text))
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestKeysThatAreThereTwiceAreFound(t *testing.T) {
	objects := manifest.Parse([]byte("kind: A\nspec:\n  a: 1\n  b: {c: 1, c: 2}\n  a: 2\n"))
	var got []string
	for _, each := range objects[0].Duplicates {
		got = append(got, fmt.Sprintf("%d:%d %s", each.Line, each.Column, each.Error()))
	}
	want := []string{
		"4:13 spec.b.c is set on line 4 already: remove one of them",
		"5:3 spec.a is set on line 3 already: remove one of them",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestHostileFilesAreReadInTime(t *testing.T) {
	bomb := "a: &a [x,x,x,x,x,x,x,x,x]\n"
	for i := 'b'; i < 'k'; i++ {
		bomb += fmt.Sprintf("%c: &%c [*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c]\n", i, i, i-1, i-1, i-1, i-1, i-1, i-1, i-1, i-1)
	}
	for name, text := range map[string]string{
		"aliases of aliases": bomb,
		"a circle":           "a: &a\n  b: *a\n",
		"deep":               strings.Repeat("[", 9000),
		"many documents":     strings.Repeat("---\na: b\n", 20_000),
		"a long stream":      strings.Repeat("{}", 200_000),
	} {
		objects := manifest.Parse([]byte(text))
		if len(objects) == 0 {
			t.Errorf("%s: nothing is read", name)
		}
		for _, object := range objects[:1] {
			object.Place(finding.Finding{Field: strings.Repeat("a.b.", 1000)})
		}
	}
}

func TestFoldersHaveTheirManifests(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"b.yaml", "a.yml", "c.json", "d.txt", ".hidden.yaml", "sub/e.yaml", ".git/f.yaml"} {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"link.yaml": "d.txt", "folder.yaml": "sub"} {
		if err := os.Symlink(filepath.Join(folder, to), filepath.Join(folder, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(folder, "pipe.yaml"), 0o600); err != nil {
		t.Fatal(err)
	}
	files := manifest.Files([]string{folder, filepath.Join(folder, "d.txt"), "-"})
	var got []string
	for _, file := range files {
		got = append(got, strings.TrimPrefix(file, folder+"/"))
	}
	if diff := cmp.Diff([]string{"a.yml", "b.yaml", "c.json", "link.yaml", "sub/e.yaml", "d.txt", "-"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	_, err := manifest.Read(t.Context(), manifest.Files([]string{filepath.Join(folder, "absent")})[0], nil)
	if want := "absent cannot be read (no such file or directory): name a file or a folder"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("an absent file is %v", err)
	}
}

func TestTheSizeOfDocumentsAndFilesIsBounded(t *testing.T) {
	small, large := "---\nkind: A\n"+strings.Repeat("# comment\n", 100_000), "---\nkind: B\ntext: "+strings.Repeat("x", manifest.MaxBytes)+"\n"
	text, err := manifest.Read(t.Context(), manifest.Stdin, strings.NewReader(strings.Repeat(small, 4)+large+small))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, object := range manifest.Parse(text) {
		got = append(got, object.Header.Kind)
		if object.Problem != nil {
			got = append(got, fmt.Sprintf("%d %s", object.Line, object.Problem.Error()))
		}
	}
	tooLarge := "400010 the document has more than 3145728 bytes, and no manifest has: write each object as a document of its own, or leave it out"
	if diff := cmp.Diff([]string{"A", "A", "A", "A", "", tooLarge, "A"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	_, err = manifest.Read(t.Context(), manifest.Stdin, strings.NewReader(strings.Repeat("x", manifest.MaxFileBytes+1)))
	if want := "the standard input has more than 64 MiB: split it"; err == nil || err.Error() != want {
		t.Errorf("of a larger file the error is %v", err)
	}
}

func TestReadingEndsWithItsContext(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	terminal, writer := io.Pipe() // nobody writes
	defer writer.Close()
	for _, file := range []string{pipe, manifest.Stdin} {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Millisecond, cancel)
		if _, err := manifest.Read(ctx, file, terminal); !errors.Is(err, context.Canceled) {
			t.Errorf("of %s the error is %v", file, err)
		}
	}
	end, err := os.OpenFile(pipe, os.O_RDWR, 0) // ends the open that waits for a writer
	if err != nil {
		t.Fatal(err)
	}
	end.Close()
}
