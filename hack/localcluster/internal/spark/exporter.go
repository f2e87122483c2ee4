package spark

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"

	"github.com/firesteel-dev/firesteel/hack/localcluster/internal/cache"
	"github.com/firesteel-dev/firesteel/hack/localcluster/internal/step"
)

// The Prometheus JMX exporter, a Java agent, is in the images where the Kubeflow operator's image
// spark:v3.0.0-gcs-prometheus has it, and where manifests name it.
const (
	exporterFolder  = "/prometheus"
	exporterGroup   = "io.prometheus.jmx"
	exporterName    = "jmx_prometheus_javaagent"
	exporterVersion = "0.11.0"
	exporterDigest  = "0c8e2f7b9753fd540c17546bf1a6bfdbb39747493e02ea8ad8566097607c0c2d"
)

// exporter is the folder in the cache that holds the exporter for the release's image.
func (r Release) exporter() string { return filepath.Join("exporter", r.Version) }

// fetchExporter has it there. It comes from Maven Central, through the Ivy that Spark looks for packages with.
func (r Release) fetchExporter(ctx context.Context, t *step.Task, c cache.Dir) error {
	_, err := c.Ensure(r.exporter(), exporterDigest, func(dest string) error {
		t.Say("downloading the JMX exporter %s", exporterVersion)
		work, err := os.MkdirTemp("", "ivy-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(work)
		if err := t.Run(ctx, "java", "-cp", c.Path(r.home(), "jars", "*"), "org.apache.ivy.Main", "-cache", work, "-confs", "default",
			"-dependency", exporterGroup, exporterName, exporterVersion, "-types", "jar",
			"-retrieve", filepath.Join(dest, "[artifact]-[revision].[ext]")); err != nil {
			return err
		}
		return checkDigest(filepath.Join(dest, exporterName+"-"+exporterVersion+".jar"), exporterDigest)
	})
	return err
}

func checkDigest(file, want string) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	digest := sha256.Sum256(content)
	if got := hex.EncodeToString(digest[:]); got != want {
		return fmt.Errorf("%s has the SHA-256 digest %s, not %s", filepath.Base(file), got, want)
	}
	return nil
}
