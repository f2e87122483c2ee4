package docs

import (
	"fmt"
	"go/scanner"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/firesteel-dev/firesteel/pkg/reconciler/application"
)

// sources returns the text of all files with an extension below some folders, but of tests.
func sources(t *testing.T, ext string, folders ...string) string {
	t.Helper()
	var all strings.Builder
	eachFile(t, ext, folders, func(path string, text []byte) {
		if !strings.HasSuffix(path, "_test.go") {
			all.Write(text)
		}
	})
	return all.String()
}

var (
	condition = regexp.MustCompile("`([A-Z][A-Za-z]+)=(?:True|False|Unknown)(?:/([A-Z][A-Za-z]+))?`")
	camelCase = regexp.MustCompile("`([A-Z][a-z]+(?:[A-Z][A-Za-z]*)+)`")
	logLine   = regexp.MustCompile("logs? ((?:`[^`]+`(?:, )?)+)")
	metric    = regexp.MustCompile("`(firesteel_[a-z_]+)`")
	setting   = regexp.MustCompile("`([a-z]+(?:-[a-z]+)+)`")
)

// kubernetesReasons are reasons that Kubernetes gives and Firesteel hands on.
var kubernetesReasons = []string{"Unschedulable"}

func TestPagesOnConditionsNameTheReasonsOfTheCode(t *testing.T) {
	code := sources(t, ".go", "pkg", "cmd")
	lower := strings.ToLower(code)
	manifests := sources(t, ".yaml", "config")
	metrics := sources(t, ".md", "docs/operators/metrics.md")
	names := 0
	for _, path := range []string{"docs/operators/on-call.md", "docs/users/conditions.md"} {
		text, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			t.Fatal(err)
		}
		page := string(text)
		quoted := func(what, name string) {
			names++
			if slices.Contains(kubernetesReasons, name) || strings.Contains(code, `"`+name+`"`) {
				return
			}
			t.Errorf("%s names the %s %s, which no code has", path, what, name)
		}
		for _, match := range condition.FindAllStringSubmatch(page, -1) {
			quoted("condition", match[1])
			if match[2] != "" {
				quoted("reason", match[2])
			}
		}
		for _, match := range camelCase.FindAllStringSubmatch(page, -1) {
			quoted("reason, state or Event", match[1])
		}
		for _, match := range logLine.FindAllStringSubmatch(page, -1) {
			for _, line := range codeSpan.FindAllString(match[1], -1) {
				names++
				if line := strings.Trim(line, "`"); !strings.Contains(lower, `"`+strings.ToLower(line)) {
					t.Errorf("%s quotes the log line %q, which no code writes", path, line)
				}
			}
		}
		for _, match := range metric.FindAllStringSubmatch(page, -1) {
			names++
			if !strings.Contains(metrics, match[0]) {
				t.Errorf("%s names the metric %s, which docs/operators/metrics.md does not have", path, match[1])
			}
		}
		for _, match := range setting.FindAllStringSubmatch(page, -1) {
			names++
			if !strings.Contains(manifests, match[1]) {
				t.Errorf("%s names the setting %s, which no manifest in config has", path, match[1])
			}
		}
	}
	if names < 100 {
		t.Errorf("found %d names only: do the pages still mark them as code?", names)
	}
}

var (
	keyInCode = regexp.MustCompile(`"(firesteel\.dev/[a-z]+(?:-[a-z]+)*)"`)
	keyInPage = regexp.MustCompile("`(firesteel\\.dev/[a-z]+(?:-[a-z]+)*)[:`]")
)

// TestPageOfAnnotationsNamesEveryKeyOfTheCode holds the page against the annotations, labels and finalizers that the code names.
func TestPageOfAnnotationsNamesEveryKeyOfTheCode(t *testing.T) {
	const path = "docs/users/annotations.md"
	text, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	keys := func(pattern *regexp.Regexp, text string) map[string]bool {
		found := map[string]bool{}
		for _, match := range pattern.FindAllStringSubmatch(text, -1) {
			found[match[1]] = true
		}
		return found
	}
	code, page := keys(keyInCode, sources(t, ".go", "pkg")), keys(keyInPage, string(text))
	for key := range code {
		if !page[key] {
			t.Errorf("%s does not name %s: say who writes it, and what it means", path, key)
		}
	}
	for key := range page {
		if !code[key] {
			t.Errorf("%s names %s, which no code has", path, key)
		}
	}
	if len(code) < 15 {
		t.Errorf("found %d keys only: does the code still write them as texts?", len(code))
	}
}

var (
	testName     = regexp.MustCompile("`(Test[A-Z][A-Za-z]+)`")
	testFunction = regexp.MustCompile(`(?m)^func (Test\w+)\(`)
)

// testsBelow returns the names of the tests in some folders.
func testsBelow(t *testing.T, folders ...string) map[string]bool {
	tests := map[string]bool{}
	eachFile(t, "_test.go", folders, func(_ string, text []byte) {
		for _, match := range testFunction.FindAllSubmatch(text, -1) {
			tests[string(match[1])] = true
		}
	})
	return tests
}

var longTests = regexp.MustCompile(`(?m)^LONG := \^Test\((.*)\)\$\$$`)

func TestTestsThatTheMakefileLeavesToEndToEndRunsExist(t *testing.T) {
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	match := longTests.FindSubmatch(makefile)
	if match == nil {
		t.Fatal("the Makefile has no LONG")
	}
	tests := testsBelow(t, "test/integration")
	for name := range strings.SplitSeq(string(match[1]), "|") {
		if !tests["Test"+name] {
			t.Errorf("LONG names the test Test%s, which does not exist", name)
		}
	}
}

func TestTestsThatPagesNameExist(t *testing.T) {
	tests := testsBelow(t, "cmd", "hack", "pkg", "test")
	for _, p := range pages(t) {
		p.prose(func(number int, line string) {
			for _, match := range testName.FindAllStringSubmatch(line, -1) {
				if !tests[match[1]] {
					t.Errorf("%s:%d names the test %s, which does not exist", p.path, number, match[1])
				}
			}
		})
	}
}

func TestPagesNameTheNumberOfWorkers(t *testing.T) {
	want := fmt.Sprintf("%d applications at once, up to %d of one namespace", application.Workers, application.Workers*3/4)
	for _, path := range []string{"configuration.md", "kubeflow-flags.md", "helm.md"} {
		text, err := os.ReadFile(filepath.Join(root, "docs/operators", path))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), want) {
			t.Errorf("docs/operators/%s does not say %q", path, want)
		}
	}
}

// identifiers returns all names that the Go files below some folders declare or use.
func identifiers(t *testing.T, folders ...string) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	eachFile(t, ".go", folders, func(path string, text []byte) {
		var s scanner.Scanner
		s.Init(token.NewFileSet().AddFile(path, -1, len(text)), text, nil, 0)
		for _, tok, literal := s.Scan(); tok != token.EOF; _, tok, literal = s.Scan() {
			if tok == token.IDENT {
				found[literal] = true
			}
		}
	})
	return found
}

var identifier = regexp.MustCompile("`(?:[a-z]+\\.)?([A-Z][A-Za-z]+)`|`([a-z][A-Za-z]+)`")

// notOfGo are the names in adding.md that are of examples, of manifests or of files.
var notOfGo = []string{"archives", "enableServiceLinks", "Paused", "Kustomization", "Makefile", "resourceNames"}

func TestIdentifiersThatAddingNamesExist(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs/contributors/adding.md"))
	if err != nil {
		t.Fatal(err)
	}
	known, names := identifiers(t, "cmd", "hack", "pkg", "test"), 0
	for _, match := range identifier.FindAllStringSubmatch(string(text), -1) {
		names++
		if name := match[1] + match[2]; !known[name] && !slices.Contains(notOfGo, name) {
			t.Errorf("docs/contributors/adding.md names %s, which no Go file has", match[0])
		}
	}
	if names < 30 {
		t.Errorf("found %d names only: does the page still mark them as code?", names)
	}
}
