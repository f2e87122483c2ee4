package cluster

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/firesteel-dev/firesteel/hack/localcluster/internal/cache"
	"github.com/firesteel-dev/firesteel/hack/localcluster/internal/image"
	"github.com/firesteel-dev/firesteel/hack/localcluster/internal/step"
)

// module is this program's own Go module, whose heavier programs it builds.
const module = "github.com/firesteel-dev/firesteel/hack/localcluster"

const (
	kubernetesVersion = "v1.35.4"
	kubernetesPackage = "./cmd/kubernetes"
	pausePackage      = "./cmd/pause"
	kwokModule        = "kwok" // a folder with a go.mod of its own
	kwokPackage       = "sigs.k8s.io/kwok/cmd/kwok"
)

// kubernetesPrograms are the names that the one binary goes by.
var kubernetesPrograms = []string{
	"coredns", "etcd", "kube-apiserver", "kube-controller-manager", "kube-proxy", "kube-scheduler", "kubectl", "kubelet",
}

// buildKubernetes has the Kubernetes programs in the cache's bin folder.
func (c *Cluster) buildKubernetes(ctx context.Context, t *step.Task) error {
	dir, err := moduleDir(ctx)
	if err != nil {
		return err
	}
	key, err := sourceKey(dir, kubernetesPackage)
	if err != nil {
		return err
	}
	_, err = c.cache.Ensure("bin/kubernetes", cache.Key(key, kubernetesLinkFlags(), "without cgo"), func(dest string) error {
		t.Say("building Kubernetes %s, etcd and CoreDNS", kubernetesVersion)
		return goBuild(ctx, t, dir, dest, kubernetesLinkFlags(), kubernetesPackage)
	})
	if err != nil {
		return err
	}
	for _, name := range kubernetesPrograms {
		if err := os.Symlink("kubernetes", c.cache.Program(name)); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}

// buildKwok has kwok in the cache's bin folder.
func (c *Cluster) buildKwok(ctx context.Context, t *step.Task) error {
	dir, err := moduleDir(ctx)
	if err != nil {
		return err
	}
	dir = filepath.Join(dir, kwokModule)
	key, err := sourceKey(dir, ".")
	if err != nil {
		return err
	}
	_, err = c.cache.Ensure("bin/kwok", key, func(dest string) error {
		t.Say("building kwok")
		return goBuild(ctx, t, dir, dest, "-s -w", kwokPackage)
	})
	return err
}

// kubernetesLinkFlags set the version of the programs: without it the server
// takes itself for v0.0.0, and clients that ask for a least version refuse it.
func kubernetesLinkFlags() string {
	flags := []string{"-s", "-w"}
	major, minor, _ := strings.Cut(strings.TrimPrefix(kubernetesVersion, "v"), ".")
	minor, _, _ = strings.Cut(minor, ".")
	for _, pkg := range []string{"k8s.io/component-base/version", "k8s.io/client-go/pkg/version"} {
		for _, set := range []string{
			"gitVersion=" + kubernetesVersion, "gitMajor=" + major, "gitMinor=" + minor, "gitTreeState=clean",
		} {
			flags = append(flags, "-X", pkg+"."+set)
		}
	}
	return strings.Join(flags, " ")
}

// buildPause has the layer of the sandbox image in the cache.
func (c *Cluster) buildPause(ctx context.Context, t *step.Task) error {
	dir, err := moduleDir(ctx)
	if err != nil {
		return err
	}
	key, err := sourceKey(dir, pausePackage)
	if err != nil {
		return err
	}
	_, err = c.cache.Ensure("images/pause", key, func(dest string) error {
		if err := os.MkdirAll(dest, 0o755); err != nil {
			return err
		}
		program := filepath.Join(dest, "pause")
		if err := goBuild(ctx, t, dir, program, "-s -w", pausePackage); err != nil {
			return err
		}
		content, err := os.ReadFile(program)
		if err != nil {
			return err
		}
		return writeLayer(dest, func(w *image.LayerWriter) error {
			return w.File("/pause", content, image.Attributes{Mode: 0o755})
		})
	})
	return err
}

var pauseConfig = v1.Config{User: "65535", Entrypoint: []string{"/pause"}}

// buildBase has the layer in the cache on which ko puts a Go program.
func (c *Cluster) buildBase() error {
	certificates, err := os.ReadFile("/etc/ssl/certs/ca-certificates.crt")
	if err != nil {
		return err
	}
	_, err = c.cache.Ensure("images/base", cache.Key(string(certificates), "1"), func(dest string) error {
		return writeLayer(dest, func(w *image.LayerWriter) error {
			return errors.Join(
				w.Dir("/tmp", image.Attributes{Mode: 0o777 | fs.ModeSticky}),
				w.File("/etc/passwd", []byte("root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin\n"), image.Attributes{Mode: 0o644}),
				w.File("/etc/group", []byte("root:x:0:\nnonroot:x:65532:\n"), image.Attributes{Mode: 0o644}),
				w.File("/etc/ssl/certs/ca-certificates.crt", certificates, image.Attributes{Mode: 0o644}),
				w.Dir("/home/nonroot", image.Attributes{Mode: 0o700, Owner: 65532}),
			)
		})
	})
	return err
}

// baseConfig names the user by number: only then can a pod say runAsNonRoot.
var baseConfig = v1.Config{
	User:       "65532",
	WorkingDir: "/home/nonroot",
	Env: []string{
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/ko-app",
		"SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt",
	},
}

func writeLayer(dir string, fill func(*image.LayerWriter) error) error {
	w, err := image.NewLayerWriter(dir)
	if err != nil {
		return err
	}
	return errors.Join(fill(w), w.Close())
}

// moduleDir is the folder of this module's source.
func moduleDir(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err == nil && strings.TrimSpace(string(out)) != "" {
		dir := strings.TrimSpace(string(out))
		if data, err := os.ReadFile(filepath.Join(dir, "go.mod")); err == nil && strings.HasPrefix(string(data), "module "+module+"\n") {
			return dir, nil
		}
	}
	return "", fmt.Errorf("this is not the folder of the module %s, whose programs are to be built: run it in hack/localcluster", module)
}

// sourceKey is the hash of what a program of this module is made from: its
// source, the modules that it uses, and the Go toolchain.
func sourceKey(dir, pkg string) (string, error) {
	files, err := filepath.Glob(filepath.Join(dir, pkg, "*.go"))
	if err != nil {
		return "", err
	}
	inputs := []string{runtime.Version(), runtime.GOARCH}
	for _, file := range append(files, filepath.Join(dir, "go.mod"), filepath.Join(dir, "go.sum")) {
		data, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		inputs = append(inputs, filepath.Base(file), string(data))
	}
	return cache.Key(inputs...), nil
}

func goBuild(ctx context.Context, t *step.Task, dir, dest, linkFlags, pkg string) error {
	cmd := t.Command(ctx, "go", "build", "-trimpath", "-ldflags", linkFlags, "-o", dest, pkg)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0") // no C compiler needed, no C library either
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("go build %s: %w", pkg, err)
	}
	return nil
}
