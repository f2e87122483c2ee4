package build

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
)

// platforms are those of all images.
var platforms = []string{"linux/amd64", "linux/arm64"}

// programs are those that the folder brings, each with its package and with the folder of the package's module.
var programs = []struct{ name, module, path string }{
	{"push", "hack/release", "./push"},
	{"helmvalues", ".", "./hack/helmvalues"},
}

// programPlatforms are those on which people work.
var programPlatforms = []string{"darwin/amd64", "darwin/arm64", "linux/amd64", "linux/arm64"}

// buildImages builds the images with ko, and writes their SBOMs. It returns the images by the import paths of their programs.
func (r *Release) buildImages(ctx context.Context) (map[string]v1.ImageIndex, error) {
	packages, err := r.Packages()
	if err != nil {
		return nil, err
	}
	// ko takes this path for the beginning of an image's name, and not every path is valid there.
	const built = ".bin/ko-layout"
	if err := os.RemoveAll(filepath.Join(r.Source, built)); err != nil {
		return nil, err
	}
	fmt.Fprintf(os.Stderr, "Building %d images for %s; the first time, that compiles for some minutes\n", len(packages), strings.Join(platforms, " and "))
	images := map[string]v1.ImageIndex{}
	for _, pkg := range packages {
		output, err := r.command(ctx, "go", "tool", "-modfile=tools/go.mod", "ko", "build", pkg,
			"--push=false", "--oci-layout-path="+built, "--platform="+strings.Join(platforms, ","),
			"--sbom=spdx", "--sbom-dir="+r.Folder.Path("sbom"), "--image-label=org.opencontainers.image.version="+r.Version)
		if err != nil {
			return nil, err
		}
		_, digest, _ := strings.Cut(strings.TrimSpace(output), "@")
		if images[pkg], err = indexOf(filepath.Join(r.Source, built), digest); err != nil {
			return nil, fmt.Errorf("the image of %s: %w", pkg, err)
		}
	}
	return images, nil
}

// indexOf returns an image for several platforms from a layout.
func indexOf(built, digest string) (v1.ImageIndex, error) {
	hash, err := v1.NewHash(digest)
	if err != nil {
		return nil, err
	}
	index, err := layout.ImageIndexFromPath(built)
	if err != nil {
		return nil, err
	}
	found, err := index.ImageIndex(hash)
	if err != nil {
		return nil, fmt.Errorf("it is for one platform, want %s: name a base image for all of them in KO_DEFAULTBASEIMAGE: %w",
			strings.Join(platforms, " and "), err)
	}
	return found, nil
}

// buildPrograms builds each program for each platform.
func (r *Release) buildPrograms(ctx context.Context) error {
	for _, program := range programs {
		fmt.Fprintf(os.Stderr, "Building %s for %s\n", program.name, strings.Join(programPlatforms, ", "))
		for _, platform := range programPlatforms {
			system, machine, _ := strings.Cut(platform, "/")
			if _, err := r.command(ctx, "env", "GOOS="+system, "GOARCH="+machine, "CGO_ENABLED=0", "go", "build", "-C", program.module,
				"-ldflags=-s -w", "-o", r.Folder.Path("bin", program.name+"-"+system+"-"+machine), program.path); err != nil {
				return err
			}
		}
	}
	return nil
}

// command runs a program in the source tree. The version control data of a folder is not part of the source.
func (r *Release) command(ctx context.Context, program string, arguments ...string) (string, error) {
	command := exec.CommandContext(ctx, program, arguments...)
	command.Dir = r.Source
	command.Env = append(os.Environ(), "GOFLAGS=-trimpath -buildvcs=false", "VERSION="+r.Version, "KO_DOCKER_REPO="+Unnamed)
	var log bytes.Buffer
	command.Stderr = &log
	output, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s", strings.Join(arguments, " "), err, log.String())
	}
	return string(output), nil
}
