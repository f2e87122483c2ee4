// Package function makes an image of a function in Python: the Debian that the
// Spark images have, and a layer with what requirements.txt names and function.py.
package function

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/firesteel-dev/firesteel/hack/localcluster/internal/cache"
	"github.com/firesteel-dev/firesteel/hack/localcluster/internal/image"
	"github.com/firesteel-dev/firesteel/hack/localcluster/internal/spark"
	"github.com/firesteel-dev/firesteel/hack/localcluster/internal/step"
)

const (
	requirements = "requirements.txt"
	program      = "function.py"
	// pythonVersion is that of the images' Debian.
	pythonVersion = "3.11"
)

// Function is a function in Python.
type Function struct {
	// Dir holds requirements.txt, every line with its hash, and function.py.
	Dir string
	// Image is the name of its image: REPOSITORY:TAG.
	Image string
}

func (f Function) layer() string { return "images/function-" + cache.Key(f.Image)[:12] }

// BuildLayer has the function's layer in the cache.
func (f Function) BuildLayer(ctx context.Context, t *step.Task, c cache.Dir) error {
	needs, err := os.ReadFile(filepath.Join(f.Dir, requirements))
	if err != nil {
		return fmt.Errorf("a function is made of %s and %s: %w", requirements, program, err)
	}
	source, err := os.ReadFile(filepath.Join(f.Dir, program))
	if err != nil {
		return fmt.Errorf("a function is made of %s and %s: %w", requirements, program, err)
	}
	_, err = c.Ensure(f.layer(), cache.Key(string(needs), string(source), pythonVersion, "layer 1"), func(dest string) error {
		t.Say("making the image %s", f.Image)
		libraries, err := os.MkdirTemp("", "function-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(libraries)
		if err := t.Run(ctx, "python3", "-m", "pip", "install", "--disable-pip-version-check", "--no-cache-dir", "--no-compile",
			"--python-version", pythonVersion, "--only-binary", ":all:", "--require-hashes",
			"--requirement", filepath.Join(f.Dir, requirements), "--target", libraries); err != nil {
			return err
		}
		w, err := image.NewLayerWriter(dest)
		if err != nil {
			return err
		}
		return errors.Join(
			w.Dir("/function/libraries", image.Attributes{Mode: 0o755}), // the folder here is only its owner's
			w.Tree(libraries, "/function/libraries", 0),
			w.File("/function/"+program, source, image.Attributes{Mode: 0o644}),
			w.Close())
	})
	return err
}

// Open is the function's image. Its layer and Debian's are in the cache.
func (f Function) Open(c cache.Dir) (*image.Image, error) {
	return image.Open(v1.Config{
		User:       "65532", // by number: only then can a pod say runAsNonRoot
		WorkingDir: "/function",
		Entrypoint: []string{"/usr/bin/tini", "--", "python3", "/function/" + program},
		Env: []string{
			"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
			"PYTHONPATH=/function/libraries",
			"PYTHONDONTWRITEBYTECODE=1",
			"LANG=C.UTF-8",
		},
	}, spark.DebianLayer(c), c.Path(f.layer()))
}
