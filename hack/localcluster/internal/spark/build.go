package spark

import (
	"context"
	"errors"
	"io"
	"os"
	"runtime"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/firesteel-dev/firesteel/hack/localcluster/internal/cache"
	"github.com/firesteel-dev/firesteel/hack/localcluster/internal/image"
	"github.com/firesteel-dev/firesteel/hack/localcluster/internal/step"
)

const (
	debian      = "archives/debian.tar"
	layer       = "images/spark"
	debianSuite = "bookworm"
	debianExtra = "openjdk-17-jre-headless,procps,python3,tini"
)

// sparkID is the user and group of Spark in the image, as in the project's own.
const sparkID = 185

func debianKey() string { return cache.Key(debianSuite, debianExtra, runtime.GOARCH) }

func layerKey() string { return cache.Key(debianKey(), homeKey(), "layer 2") }

// Bootstrap has the image's Debian in the cache.
func Bootstrap(ctx context.Context, t *step.Task, c cache.Dir) error {
	if c.Fresh(layer, layerKey()) {
		return nil
	}
	_, err := c.Ensure(debian, debianKey(), func(dest string) error {
		t.Say("making the image's Debian %s with Java and Python", debianSuite)
		return t.Run(ctx, "mmdebstrap", "--variant=minbase", "--format=tar", "--include="+debianExtra, debianSuite, dest)
	})
	return err
}

// BuildLayer has the image's layer in the cache.
func BuildLayer(t *step.Task, c cache.Dir) error {
	_, err := c.Ensure(layer, layerKey(), func(dest string) error {
		t.Say("writing the image of Spark %s", Version)
		w, err := image.NewLayerWriter(dest)
		if err != nil {
			return err
		}
		return errors.Join(fill(w, c), w.Close())
	})
	return err
}

// Image is the image, whose layer is in the cache.
func Image(c cache.Dir) (*image.Image, error) {
	return image.Open(c.Path(layer), v1.Config{
		User:       "185",
		WorkingDir: "/opt/spark/work-dir",
		Entrypoint: []string{"/opt/entrypoint.sh"},
		Env: []string{
			"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
			"JAVA_HOME=/opt/java/openjdk",
			"SPARK_HOME=/opt/spark",
			"LANG=C.UTF-8",
		},
	})
}

func fill(w *image.LayerWriter, c cache.Dir) error {
	root, err := os.Open(c.Path(debian))
	if err != nil {
		return err
	}
	defer root.Close()
	if err := w.Archive(root, editDebian); err != nil {
		return err
	}
	entrypoint, err := files.ReadFile("image/entrypoint.sh")
	if err != nil {
		return err
	}
	return errors.Join(
		w.File("/opt/entrypoint.sh", entrypoint, image.Attributes{Mode: 0o755}),
		w.Symlink("/opt/java/openjdk", "/usr/lib/jvm/java-17-openjdk-"+runtime.GOARCH),
		w.Tree(Home(c), "/opt/spark", sparkID),
		w.Dir("/opt/spark/work-dir", image.Attributes{Mode: 0o775, Owner: sparkID}),
	)
}

// leftOut are folders of Debian's that no pod needs.
var leftOut = []string{"dev", "var/cache", "var/lib/apt", "usr/share/doc", "usr/share/man", "usr/share/locale"}

// editDebian leaves out what no pod needs and adds Spark's user.
func editDebian(name string, content io.Reader) (io.Reader, bool) {
	for _, dir := range leftOut {
		if strings.HasPrefix(name, dir+"/") {
			return nil, false
		}
	}
	switch name {
	case "etc/passwd":
		content = io.MultiReader(content, strings.NewReader("spark:x:185:185::/nonexistent:/bin/sh\n"))
	case "etc/group":
		content = io.MultiReader(content, strings.NewReader("spark:x:185:\n"))
	}
	return content, true
}
