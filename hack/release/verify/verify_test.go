// Package verify checks a release that was built and signed: hack/verify-release.sh runs it.
package verify

import (
	"archive/tar"
	"errors"
	"flag"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/firesteel-dev/firesteel/hack/release/folder"
)

var (
	release  = flag.String("release", "", "the folder of the release")
	registry = flag.String("registry", "", "the registry that it is copied to")
	cosign   = flag.String("cosign", "", "the Go package of cosign, with its version")
)

const version = "v0.0.0-check"

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(m.Run())
}

// run runs a program in the folder of the release.
func run(t *testing.T, program string, arguments ...string) string {
	t.Helper()
	command := exec.Command(program, arguments...)
	command.Dir = *release
	output, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", program, strings.Join(arguments, " "), err, output)
	}
	return string(output)
}

// TestReleaseIsSignedThenCopied has one order: a copy to another registry changes the checksums.
func TestReleaseIsSignedThenCopied(t *testing.T) {
	run(t, "go", "run", *cosign, "verify-blob", "--key", folder.PublicKey, "--bundle", folder.Signature,
		"--insecure-ignore-tlog", folder.Checksums)
	for _, pattern := range []string{"sbom/controller-linux-amd64.spdx.json", "sbom/*-linux-arm64.spdx.json", "bin/push-darwin-arm64", "bin/helmvalues-darwin-arm64", "kubectl/kubectl-spark-linux-amd64.tar.gz", "kubectl/kubectl-spark-windows-arm64.zip", "kubectl/spark.yaml"} {
		if found, err := filepath.Glob(filepath.Join(*release, pattern)); err != nil || len(found) == 0 {
			t.Errorf("the release has no %s: %v", pattern, err)
		}
	}
	artefacts, err := folder.Dir(*release).Artefacts()
	if err != nil {
		t.Fatal(err)
	}
	values := filepath.Join(t.TempDir(), "values.yaml")
	if err := os.WriteFile(values, []byte("controller: {replicas: 2}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if converted := run(t, "./helmvalues", "kubeflow", values); !strings.Contains(converted, "replicas: 2") {
		t.Errorf("helmvalues prints %s", converted)
	}
	run(t, "./push", *registry)
	if err := folder.Dir(*release).Verify(); err != nil {
		t.Error(err)
	}
	for _, artefact := range artefacts {
		if artefact.Repository == folder.ChartRepository || artefact.Tag == "" {
			continue
		}
		reference := *registry + "/" + artefact.Repository + "@" + artefact.Digest.String()
		t.Run(artefact.Repository, func(t *testing.T) {
			checkPlatforms(t, reference)
			run(t, "go", "run", *cosign, "verify", "--key", folder.PublicKey, "--insecure-ignore-tlog", "--allow-http-registry", reference)
		})
	}
	core, err := os.ReadFile(filepath.Join(*release, "firesteel.yaml"))
	if err != nil || !strings.Contains(string(core), "image: "+*registry+"/controller@sha256:") {
		t.Errorf("firesteel.yaml does not name %s: %v", *registry, err)
	}
}

// checkPlatforms checks that an image is there for both platforms, and that its program has the version of the release.
func checkPlatforms(t *testing.T, reference string) {
	t.Helper()
	parsed, err := name.ParseReference(reference)
	if err != nil {
		t.Fatal(err)
	}
	for _, machine := range []string{"amd64", "arm64"} {
		platform := v1.Platform{OS: "linux", Architecture: machine}
		image, err := remote.Image(parsed, remote.WithPlatform(platform))
		if err != nil {
			t.Fatalf("%s for %s: %v", reference, machine, err)
		}
		config, err := image.ConfigFile()
		if err != nil || config.Architecture != machine {
			t.Errorf("%s for %s is for %s: %v", reference, machine, config.Architecture, err)
		}
		if label := config.Config.Labels["org.opencontainers.image.version"]; label != version {
			t.Errorf("%s has the version %q in its labels", reference, label)
		}
		if machine == runtime.GOARCH && slices.Contains([]string{"controller", "handler", "setup"}, path.Base(parsed.Context().RepositoryStr())) {
			checkVersion(t, image)
		}
	}
}

func checkVersion(t *testing.T, image v1.Image) {
	t.Helper()
	config, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "program")
	extract(t, image, config.Config.Entrypoint[0], program)
	if got := run(t, program, "--version"); got != version+"\n" {
		t.Errorf("--version prints %q", got)
	}
}

// extract writes a file of an image.
func extract(t *testing.T, image v1.Image, file, to string) {
	t.Helper()
	layers, err := image.Layers()
	if err != nil {
		t.Fatal(err)
	}
	for _, layer := range slices.Backward(layers) {
		content, err := layer.Uncompressed()
		if err != nil {
			t.Fatal(err)
		}
		defer content.Close()
		for reader := tar.NewReader(content); ; {
			header, err := reader.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if path.Join("/", header.Name) != file || header.Typeflag != tar.TypeReg {
				continue
			}
			text, err := io.ReadAll(reader)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(to, text, 0o755); err != nil {
				t.Fatal(err)
			}
			return
		}
	}
	t.Fatalf("the image has no file %s", file)
}
