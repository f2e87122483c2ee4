package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// work is a work of other authors that a binary contains: a module, or Go's standard library.
type work struct {
	name, version string
	// texts are its licences and notices, those of the module first.
	texts []string
}

// kinds returns the licences among the texts. The other texts are notices.
func (w work) kinds() ([]string, error) {
	var names []string
	for _, text := range w.texts {
		names = append(names, kindsOf(text)...)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s has no licence that is known and accepted", w.name)
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// goPackage is the output of go list for a package.
type goPackage struct {
	Dir      string
	Standard bool
	Module   *struct {
		Path, Version, Dir string
		Main               bool
	}
}

// own is the module that all others of the tree import.
const own = "github.com/firesteel-dev/firesteel"

// linked returns the works in the binaries of cmd, of which one has a module of its own, and in the program that copies a release to a registry.
func linked() ([]work, error) {
	packages, err := list(".", "./cmd/...")
	if err != nil {
		return nil, err
	}
	for _, other := range []struct{ module, pattern string }{{"cmd/kubectl-spark-upload", "."}, {"hack/release", "./push"}} {
		more, err := list(other.module, other.pattern)
		if err != nil {
			return nil, err
		}
		packages = append(packages, more...)
	}
	standard, err := standardLibrary()
	if err != nil {
		return nil, err
	}
	found := map[string]*work{standard.name: &standard}
	for _, pkg := range packages {
		if pkg.Standard || pkg.Module == nil || pkg.Module.Main || pkg.Module.Path == own {
			continue
		}
		key := pkg.Module.Path + "@" + pkg.Module.Version // modules of ours may link different versions of one
		module := found[key]
		if module == nil {
			module = &work{name: pkg.Module.Path, version: pkg.Module.Version}
			found[key] = module
		}
		if err := module.collect(pkg.Module.Dir, pkg.Dir); err != nil {
			return nil, err
		}
	}
	assets, err := npmPackages("third_party/npm")
	if err != nil {
		return nil, err
	}
	works := make([]work, 0, len(found)+len(assets))
	works = append(works, assets...)
	for _, work := range found {
		works = append(works, *work)
	}
	slices.SortFunc(works, func(a, b work) int {
		return cmp.Or(strings.Compare(a.name, b.name), strings.Compare(a.version, b.version))
	})
	return works, nil
}

// list returns the packages of a module as the images contain them, on any machine.
func list(module, pattern string) ([]goPackage, error) {
	command := exec.Command("go", "list", "-deps", "-json=Dir,Standard,Module", pattern)
	command.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0")
	command.Dir = module
	command.Stderr = os.Stderr
	output, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	var packages []goPackage
	for decoder := json.NewDecoder(bytes.NewReader(output)); ; {
		var pkg goPackage
		if err := decoder.Decode(&pkg); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		packages = append(packages, pkg)
	}
}

// npmPackages returns the npm packages whose files the console serves.
func npmPackages(folder string) ([]work, error) {
	text, err := os.ReadFile(filepath.Join(folder, "packages.json"))
	if err != nil {
		return nil, err
	}
	var listed []struct {
		Name, Version string
		Tests         bool
		Files         []struct{ To string }
	}
	if err := json.Unmarshal(text, &listed); err != nil {
		return nil, fmt.Errorf("packages.json: %w", err)
	}
	var works []work
	for _, p := range listed {
		if p.Tests || len(p.Files) == 0 {
			continue
		}
		w := work{name: "npm: " + p.Name, version: p.Version}
		dir := filepath.Join(folder, filepath.Dir(p.Files[0].To))
		if err := w.collect(dir, dir); err != nil {
			return nil, err
		}
		works = append(works, w)
	}
	return works, nil
}

func standardLibrary() (work, error) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return work{}, fmt.Errorf("go env: %w", err)
	}
	dir := strings.TrimSpace(string(root))
	standard := work{name: "Go's standard library"}
	return standard, standard.collect(dir, dir)
}

var legal = regexp.MustCompile(`(?i)^(licen[sc]e|copying|notice|patents)([.-].*)?$`)

// collect adds the licences of a package: those in its folder, because it may be a copy of another work, and those of the
// folders above it up to the module's.
func (w *work) collect(root, dir string) error {
	if dir != root {
		if err := w.collect(root, filepath.Dir(dir)); err != nil {
			return err
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if entry.IsDir() || !legal.MatchString(entry.Name()) || filepath.Ext(entry.Name()) == ".go" {
			continue
		}
		content, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			return err
		}
		if text := normal(string(content)); !slices.Contains(w.texts, text) {
			w.texts = append(w.texts, text)
		}
	}
	return nil
}

// normal makes copies of one text equal if they differ only in invisible characters.
func normal(text string) string {
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " \t\f")
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}
