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
	debian      = "images/debian"
	debianSuite = "bookworm"
	// The suite has one Java, and each release runs with it.
	debianExtra = "openjdk-17-jre-headless,procps,python3,tini"
)

// sparkID is the user and group of Spark in the image, as in the project's own.
const sparkID = 185

// DebianLayer is the folder of the layer that Bootstrap makes.
func DebianLayer(c cache.Dir) string { return c.Path(debian) }

// Bootstrap has the layer in the cache that all images share: Debian.
func Bootstrap(ctx context.Context, t *step.Task, c cache.Dir) error {
	_, err := c.Ensure(debian, cache.Key(debianSuite, debianExtra, runtime.GOARCH, "layer 1"), func(dest string) error {
		t.Say("making the images' Debian %s with Java and Python", debianSuite)
		w, err := image.NewLayerWriter(dest)
		if err != nil {
			return err
		}
		return errors.Join(bootstrap(ctx, t, w), w.Close())
	})
	return err
}

func bootstrap(ctx context.Context, t *step.Task, w *image.LayerWriter) error {
	cmd := t.Command(ctx, "mmdebstrap", "--variant=minbase", "--format=tar", "--include="+debianExtra, debianSuite, "-")
	cmd.Stdout = nil
	archive, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	err = w.Archive(archive, editDebian)
	_, rest := io.Copy(io.Discard, archive) // what pads a tar at its end, or follows a failure
	return errors.Join(err, rest, cmd.Wait())
}

// Layer is the folder in the cache of the layer that holds the release.
func (r Release) Layer() string { return "images/spark-" + r.Version }

// BuildLayer has that layer in the cache. The release is installed.
func (r Release) BuildLayer(ctx context.Context, t *step.Task, c cache.Dir) error {
	key := cache.Key(append([]string{r.homeKey(), exporterJar.digest, "layer 4"}, sources()...)...)
	_, err := c.Ensure(r.Layer(), key, func(dest string) error {
		t.Say("compiling the examples and writing the image of Spark %s", r.Version)
		over, err := os.MkdirTemp("", "spark-over-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(over)
		home := c.Path(r.home())
		if err := errors.Join(writeScripts(over), compileExamples(ctx, t, home, over)); err != nil {
			return err
		}
		w, err := image.NewLayerWriter(dest)
		if err != nil {
			return err
		}
		return errors.Join(fill(w, home, over), w.Tree(c.Path(r.exporter()), exporterFolder, 0), w.Close())
	})
	return err
}

// config is that of all images of Spark.
var config = v1.Config{
	User:       "185",
	WorkingDir: "/opt/spark/work-dir",
	Entrypoint: []string{"/opt/entrypoint.sh"},
	Env: []string{
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		"JAVA_HOME=/opt/java/openjdk",
		"SPARK_HOME=/opt/spark",
		"LANG=C.UTF-8",
	},
}

// Image is the image of the release, whose layers are in the cache.
func (r Release) Image(c cache.Dir) (*image.Image, error) {
	return image.Open(config, DebianLayer(c), c.Path(r.Layer()))
}

func fill(w *image.LayerWriter, home, over string) error {
	entrypoint, err := files.ReadFile("image/entrypoint.sh")
	if err != nil {
		return err
	}
	return errors.Join(
		w.File("/opt/entrypoint.sh", entrypoint, image.Attributes{Mode: 0o755}),
		w.Symlink("/opt/java/openjdk", "/usr/lib/jvm/java-17-openjdk-"+runtime.GOARCH),
		w.Tree(home, "/opt/spark", sparkID),
		w.Tree(over, "/opt/spark", sparkID),
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
