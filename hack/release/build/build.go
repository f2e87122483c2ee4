// Package build makes the folder of a release from the source tree.
package build

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"golang.org/x/mod/semver"

	"github.com/firesteel-dev/firesteel/hack/release/folder"
)

// Unnamed is the registry in the manifests if none is known yet: push names one. There can be no host of that name.
const Unnamed = "registry.invalid/firesteel"

// Release is a release that is built.
type Release struct {
	// Source is the root of the source tree.
	Source string
	// Folder is where the release is written.
	Folder folder.Dir
	// Version is a semantic version that begins with v.
	Version string
	// Tag is the tag of the images.
	Tag string
	// Registry is where the images will be.
	Registry string
	// URL is where the folder will be: krew's manifest names it.
	URL string
	// Key is the key that signs: a file, or the address of a key service.
	Key string
	// Keyless has the identity sign that the environment holds, if there is no key.
	Keyless bool

	images []image
}

// image is an image of the release.
type image struct {
	// pkg is the import path of its program.
	pkg string
	// repository is its name in a registry.
	repository string
	digest     v1.Hash
	index      v1.ImageIndex
}

// Run builds the release.
func (r *Release) Run(ctx context.Context) error {
	if err := r.check(); err != nil {
		return err
	}
	if err := os.RemoveAll(string(r.Folder)); err != nil {
		return err
	}
	images, err := r.buildImages(ctx)
	if err != nil {
		return err
	}
	if err := r.buildPrograms(ctx); err != nil {
		return err
	}
	if err := r.buildCommandLine(ctx); err != nil {
		return err
	}
	return r.Assemble(ctx, images)
}

// check refuses what would be noticed late.
func (r *Release) check() error {
	if !semver.IsValid(r.Version) || semver.Canonical(r.Version)+semver.Build(r.Version) != r.Version {
		return fmt.Errorf("version %q: want a semantic version such as v1.2.3", r.Version)
	}
	if r.Tag == "" {
		r.Tag = strings.ReplaceAll(r.Version, "+", "_") // as Helm does: tags have no plus
	}
	if r.Registry == "" {
		r.Registry = Unnamed
	}
	if r.URL == "" {
		r.URL = UnnamedURL
	}
	return nil
}

// Packages returns the import paths of the programs that have images: those that config and the chart name.
func (r *Release) Packages() ([]string, error) {
	files, err := r.config()
	if err != nil {
		return nil, err
	}
	found := map[string]bool{}
	for _, file := range append(files, chartFolder+"/values.yaml") {
		text, err := r.read(file)
		if err != nil {
			return nil, err
		}
		for _, match := range koReference.FindAllSubmatch(text, -1) {
			found[string(match[1])] = true
		}
	}
	return slices.Sorted(maps.Keys(found)), nil
}

// koReference is an image that ko would build.
var koReference = regexp.MustCompile(`(?m): ko://([\w./-]+)$`)

// Assemble writes the folder around images, which are given by the import paths of their programs.
func (r *Release) Assemble(ctx context.Context, images map[string]v1.ImageIndex) error {
	if err := r.check(); err != nil {
		return err
	}
	for _, pkg := range slices.Sorted(maps.Keys(images)) {
		digest, err := images[pkg].Digest()
		if err != nil {
			return err
		}
		added := image{pkg: pkg, repository: path.Base(pkg), digest: digest, index: images[pkg]}
		r.images = append(r.images, added)
		if err := r.Folder.Add(added.repository+":"+r.Tag, added.index); err != nil {
			return err
		}
	}
	if err := errors.Join(r.writeManifests(), r.writeChart(), r.copyTexts()); err != nil {
		return err
	}
	return r.finish(ctx)
}

// finish writes what is about all other files.
func (r *Release) finish(ctx context.Context) error {
	signer := r.newSigner()
	if signer == nil {
		return errors.Join(r.writeProvenance(ctx), r.Folder.Sum())
	}
	for _, step := range []func(context.Context) error{
		signer.signImages, signer.writePublicKey, r.writeProvenance,
		func(context.Context) error { return r.Folder.Sum() }, signer.signChecksums,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// copyTexts copies what belongs to every copy of the software.
func (r *Release) copyTexts() error {
	for name, source := range map[string]string{
		"CHANGELOG.md": "CHANGELOG.md", "LICENSE": "LICENSE", "LICENSES.md": "third_party/LICENSES.md",
		"README.md": "hack/release/build/README.md",
	} {
		text, err := r.read(source)
		if err != nil {
			return err
		}
		text = bytes.ReplaceAll(text, []byte("firesteel-VERSION.tgz"), []byte("firesteel-"+strings.TrimPrefix(r.Version, "v")+".tgz"))
		if err := r.write(name, text); err != nil {
			return err
		}
	}
	return r.writeScripts()
}

// writeScripts writes a script for each program, which runs the one for the platform at hand.
func (r *Release) writeScripts() error {
	script, err := r.read("hack/release/build/program.sh")
	if err != nil {
		return err
	}
	for _, program := range programs {
		if err := r.write(program.name, script); err != nil {
			return err
		}
		if err := os.Chmod(r.Folder.Path(program.name), 0o755); err != nil {
			return err
		}
	}
	return nil
}

func (r *Release) read(name string) ([]byte, error) {
	return os.ReadFile(filepath.Join(r.Source, name))
}

func (r *Release) write(name string, text []byte) error {
	path := r.Folder.Path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}

// SourceVersion returns the version of a source tree: the tag of its commit, or a version that names the commit.
func SourceVersion(ctx context.Context, source string) (string, error) {
	output, err := git(ctx, source, "describe", "--tags", "--match=v[0-9]*", "--always", "--dirty")
	if err != nil {
		return "", fmt.Errorf("VERSION is not set, and git knows no version: %w", err)
	}
	if semver.IsValid(output) {
		return output, nil
	}
	return "v0.0.0-g" + output, nil
}

func git(ctx context.Context, source string, arguments ...string) (string, error) {
	output, err := exec.CommandContext(ctx, "git", append([]string{"-C", source}, arguments...)...).Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w", arguments[0], err)
	}
	return strings.TrimSpace(string(output)), nil
}
