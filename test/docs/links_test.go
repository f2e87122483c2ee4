// Package docs checks the pages of the repository: their links, the paths and the names that they mention.
package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const root = "../.."

// page is a Markdown file of the repository.
type page struct {
	path  string // from the root
	lines []string
}

// pages reads every Markdown file but those of folders that are hidden or third parties'.
func pages(t *testing.T) []page {
	t.Helper()
	var found []page
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() && path != root && (strings.HasPrefix(name, ".") || name == "third_party") {
			return filepath.SkipDir
		}
		if entry.IsDir() || filepath.Ext(name) != ".md" {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		found = append(found, page{path: rel, lines: strings.Split(string(text), "\n")})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) < 10 {
		t.Fatalf("found %d pages only: is %s the root of the repository?", len(found), root)
	}
	return found
}

// eachFile calls do with the path and the text of each file below some folders whose name ends so.
func eachFile(t *testing.T, end string, folders []string, do func(path string, text []byte)) {
	t.Helper()
	for _, folder := range folders {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, end) {
				return err
			}
			text, err := os.ReadFile(path)
			if err == nil {
				do(path, text)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// prose calls do with each line outside code blocks, and its number.
func (p page) prose(do func(number int, line string)) {
	fenced := false
	for i, line := range p.lines {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
		} else if !fenced {
			do(i+1, line)
		}
	}
}

var (
	codeSpan   = regexp.MustCompile("`[^`]*`")
	inlineLink = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading    = regexp.MustCompile(`^#{1,6} +(.*?) *$`)
	linkText   = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	unslugged  = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
)

// anchors returns the names by which GitHub links to the page's headings.
func (p page) anchors() []string {
	var names []string
	p.prose(func(_ int, line string) {
		match := heading.FindStringSubmatch(line)
		if match == nil {
			return
		}
		text := linkText.ReplaceAllString(match[1], "$1")
		names = append(names, strings.ReplaceAll(unslugged.ReplaceAllString(strings.ToLower(text), ""), " ", "-"))
	})
	return names
}

func TestRelativeLinksLeadToFilesAndHeadings(t *testing.T) {
	all := pages(t)
	for _, p := range all {
		p.prose(func(number int, line string) {
			for _, match := range inlineLink.FindAllStringSubmatch(codeSpan.ReplaceAllString(line, ""), -1) {
				target, anchor, _ := strings.Cut(match[1], "#")
				if strings.Contains(target, "://") {
					continue
				}
				file := p.path
				if target != "" {
					file = filepath.Join(filepath.Dir(p.path), target)
				}
				if _, err := os.Stat(filepath.Join(root, file)); err != nil {
					t.Errorf("%s:%d links to %s: %s does not exist", p.path, number, match[1], file)
					continue
				}
				i := slices.IndexFunc(all, func(other page) bool { return other.path == file })
				if anchor != "" && i >= 0 && !slices.Contains(all[i].anchors(), anchor) {
					t.Errorf("%s:%d links to %s: %s has no heading #%s", p.path, number, match[1], file, anchor)
				}
			}
		})
	}
}

var repositoryPath = regexp.MustCompile("`((?:cmd|config|docs|examples|hack|internal|pkg|test|third_party|tools)/[A-Za-z0-9_./-]+)`")

func TestPathsThatPagesNameExist(t *testing.T) {
	for _, p := range pages(t) {
		p.prose(func(number int, line string) {
			for _, match := range repositoryPath.FindAllStringSubmatch(line, -1) {
				_, fromRoot := os.Stat(filepath.Join(root, match[1]))
				_, fromPage := os.Stat(filepath.Join(root, filepath.Dir(p.path), match[1]))
				if fromRoot != nil && fromPage != nil {
					t.Errorf("%s:%d names %s, which does not exist", p.path, number, match[1])
				}
			}
		})
	}
}

func TestIndexLinksToEveryPage(t *testing.T) {
	all := pages(t)
	linked := map[string]bool{}
	for _, p := range all {
		if p.path != "docs/README.md" && p.path != "docs/adr/README.md" {
			continue
		}
		p.prose(func(_ int, line string) {
			for _, match := range inlineLink.FindAllStringSubmatch(line, -1) {
				target, _, _ := strings.Cut(match[1], "#")
				linked[filepath.Join(filepath.Dir(p.path), target)] = true
			}
		})
	}
	for _, p := range all {
		if strings.HasPrefix(p.path, "docs/") && p.path != "docs/README.md" && !linked[p.path] {
			t.Errorf("docs/README.md does not link to %s", p.path)
		}
	}
}

// TestMapNamesEveryPackage holds the map of folders against the packages; those of types, generated ones and helpers of tests are
// named as a whole.
func TestMapNamesEveryPackage(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs/contributors/architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{"cmd", "internal", "pkg"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.IsDir() {
				return err
			}
			rel, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			if rel == "pkg/client" || rel == "pkg/apis" || entry.Name() == "testdata" || strings.HasSuffix(rel, "test") {
				return filepath.SkipDir
			}
			code, err := filepath.Glob(filepath.Join(path, "*.go"))
			if len(code) > 0 && !strings.Contains(string(text), "`"+rel+"`") {
				t.Errorf("docs/contributors/architecture.md does not name %s", rel)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

var (
	mapLine  = regexp.MustCompile(`(?m)^//\t(.*\b[a-z0-9_]+\.go\b.*)$`)
	fileName = regexp.MustCompile(`[a-z0-9_]+\.go\b`)
)

// mapFrom is the number of files from which on a package needs a map of them. Those of types and generated ones need none.
const mapFrom = 6

// TestMapsOfPackagesNameEveryFile holds the maps of files in doc.go against the files.
func TestMapsOfPackagesNameEveryFile(t *testing.T) {
	files := map[string]int{}
	eachFile(t, ".go", []string{"cmd", "internal", "pkg"}, func(path string, _ []byte) {
		rel, err := filepath.Rel(root, path)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(rel, "_test.go") && !strings.HasPrefix(rel, "pkg/apis/") && !strings.HasPrefix(rel, "pkg/client/") {
			files[filepath.Dir(path)]++
		}
	})
	eachFile(t, "/doc.go", []string{"cmd", "internal", "pkg"}, func(path string, text []byte) {
		named := map[string]bool{}
		for _, line := range mapLine.FindAllStringSubmatch(string(text), -1) {
			for _, name := range fileName.FindAllString(line[1], -1) {
				named[name] = true
				if _, err := os.Stat(filepath.Join(filepath.Dir(path), name)); err != nil {
					t.Errorf("%s names %s, which does not exist", path, name)
				}
			}
		}
		if len(named) == 0 {
			return
		}
		delete(files, filepath.Dir(path))
		code, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range code {
			if name := filepath.Base(file); name != "doc.go" && !strings.HasSuffix(name, "_test.go") && !named[name] {
				t.Errorf("%s does not name %s", path, name)
			}
		}
	})
	for folder, count := range files {
		if count >= mapFrom {
			t.Errorf("%s has %d files and no map of them: list each in its doc.go, in a line that begins with a tab", folder, count)
		}
	}
}
