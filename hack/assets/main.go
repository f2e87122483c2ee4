// Command assets fetches the files of npm packages that the console serves, and that its tests run, into third_party/npm.
//
// third_party/npm/packages.json names each package with its version, the checksum of its tarball, and the files that are taken. npm finds the
// tarball in the registry that it is configured for; nothing of a package is run. With -check the files in the tree are compared with their recorded
// checksums, which needs neither npm nor a network. Run it in the module's root.
package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

const (
	folder = "third_party/npm"
	list   = "packages.json"
	// maxFile bounds one file of a package.
	maxFile = 8 << 20
)

// pkg is a package of packages.json.
type pkg struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Licence string `json:"licence"`
	// Integrity is the checksum of the tarball as npm writes it: sha512- and base64.
	Integrity string `json:"integrity"`
	// Tests reports whether only tests use it. No binary then contains it.
	Tests bool   `json:"tests,omitempty"`
	Files []file `json:"files"`
}

// file is a file that is taken of a package.
type file struct {
	// From is its path in the package; empty for a file that was written by hand, such as a licence that the package lacks. To is its path
	// below third_party/npm.
	From string `json:"from,omitempty"`
	To   string `json:"to"`
	// Rules are the selectors of the CSS rules that are taken; all of them if there are none.
	Rules []string `json:"rules,omitempty"`
	// SHA256 is the checksum of the file as it is in the tree.
	SHA256 string `json:"sha256"`
}

func main() {
	log.SetFlags(0)
	check := flag.Bool("check", false, "change nothing; fail if a file differs from its checksum")
	flag.Parse()
	run := fetch
	if *check {
		run = func(context.Context) error { return compare(folder) }
	}
	if err := run(context.Background()); err != nil {
		log.Fatalf("assets: %v", err)
	}
}

func read(folder string) (packages []pkg, err error) {
	text, err := os.ReadFile(filepath.Join(folder, list))
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &packages); err != nil {
		return nil, fmt.Errorf("%s: %w", list, err)
	}
	return packages, nil
}

// compare fails if a file differs from its checksum, or has none.
func compare(folder string) error {
	packages, err := read(folder)
	if err != nil {
		return err
	}
	known := []string{list, "npm.go"}
	for _, p := range packages {
		for _, f := range p.Files {
			known = append(known, f.To)
			content, err := os.ReadFile(filepath.Join(folder, f.To))
			if err != nil {
				return err
			}
			if sum := sumOf(content); sum != f.SHA256 {
				return fmt.Errorf("%s has the checksum %s, not %s: run go run ./hack/assets", f.To, sum, f.SHA256)
			}
		}
	}
	return filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		if name, err := filepath.Rel(folder, path); err != nil || !slices.Contains(known, filepath.ToSlash(name)) {
			return errors.Join(err, fmt.Errorf("%s is not in %s: add or delete it", path, list))
		}
		return nil
	})
}

func sumOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// fetch writes the files of all packages, and what it found of checksums into the list: a checksum of a tarball that the list already has must match.
func fetch(ctx context.Context) error {
	packages, err := read(folder)
	if err != nil {
		return err
	}
	for i := range packages {
		if err := packages[i].fetch(ctx); err != nil {
			return fmt.Errorf("%s@%s: %w", packages[i].Name, packages[i].Version, err)
		}
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(packages); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, list), text.Bytes(), 0o644)
}

func (p *pkg) fetch(ctx context.Context) error {
	tarball, err := p.pack(ctx)
	if err != nil {
		return err
	}
	sum := sha512.Sum512(tarball)
	integrity := "sha512-" + base64.StdEncoding.EncodeToString(sum[:])
	if p.Integrity != "" && p.Integrity != integrity {
		return fmt.Errorf("the tarball has the checksum %s, not %s: the package was changed after its version was published", integrity, p.Integrity)
	}
	p.Integrity = integrity
	found, err := unpack(tarball)
	if err != nil {
		return err
	}
	for i := range p.Files {
		if err := p.Files[i].write(found); err != nil {
			return err
		}
	}
	return nil
}

// pack returns the tarball of the package.
func (p *pkg) pack(ctx context.Context) ([]byte, error) {
	dir, err := os.MkdirTemp("", "firesteel-assets-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	command := exec.CommandContext(ctx, "npm", "pack", "--silent", "--ignore-scripts", p.Name+"@"+p.Version)
	command.Dir, command.Stderr = dir, os.Stderr
	output, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("npm pack: %w", err)
	}
	return os.ReadFile(filepath.Join(dir, filepath.Base(strings.TrimSpace(string(output)))))
}

// unpack returns the files of a tarball by their paths in the package.
func unpack(tarball []byte) (map[string][]byte, error) {
	unzipped, err := gzip.NewReader(bytes.NewReader(tarball))
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for reader := tar.NewReader(unzipped); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, err
		}
		if header.Size > maxFile {
			continue
		}
		_, name, _ := strings.Cut(header.Name, "/") // all are below package/
		if files[name], err = io.ReadAll(reader); err != nil {
			return nil, err
		}
	}
}

func (f *file) write(found map[string][]byte) error {
	path := filepath.Join(folder, filepath.FromSlash(f.To))
	content, err := os.ReadFile(path)
	if f.From != "" {
		var ok bool
		if content, ok = found[f.From]; !ok {
			return fmt.Errorf("it has no file %s", f.From)
		}
		content, err = cut(content, f.Rules)
	}
	if err != nil {
		return err
	}
	f.SHA256 = sumOf(content)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o644)
}

// cut returns the rules of a style sheet that have one of the selectors. The style sheet has each selector, and the end of each rule, on a line of
// its own.
func cut(css []byte, selectors []string) ([]byte, error) {
	if len(selectors) == 0 {
		return css, nil
	}
	var taken bytes.Buffer
	missing, takes := slices.Clone(selectors), false
	for line := range bytes.Lines(css) {
		if selector, isRule := strings.CutSuffix(strings.TrimRight(string(line), "\n"), " {"); isRule {
			takes = slices.Contains(selectors, selector)
			missing = slices.DeleteFunc(missing, func(wanted string) bool { return wanted == selector })
		}
		if takes {
			taken.Write(line)
		}
		takes = takes && !bytes.HasPrefix(line, []byte("}"))
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("it has no rule %s", strings.Join(missing, ", "))
	}
	return taken.Bytes(), nil
}
