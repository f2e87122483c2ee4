package spark

import (
	"context"
	"path/filepath"

	"github.com/firesteel-dev/firesteel/hack/localcluster/internal/cache"
	"github.com/firesteel-dev/firesteel/hack/localcluster/internal/step"
)

// exporterFolder is where the images have the Prometheus JMX exporter, a Java agent: where the Kubeflow operator's image
// spark:v3.0.0-gcs-prometheus has it, and where manifests name it.
const exporterFolder = "/prometheus"

var exporterJar = jar{
	group: "io.prometheus.jmx", name: "jmx_prometheus_javaagent", version: "0.11.0",
	digest: "0c8e2f7b9753fd540c17546bf1a6bfdbb39747493e02ea8ad8566097607c0c2d",
}

// exporter is the folder in the cache that holds the exporter for the release's image.
func (r Release) exporter() string { return filepath.Join("exporter", r.Version) }

// fetchExporter has it there. It comes from Maven Central.
func (r Release) fetchExporter(ctx context.Context, t *step.Task, c cache.Dir) error {
	_, err := c.Ensure(r.exporter(), exporterJar.digest, func(dest string) error {
		t.Say("downloading the JMX exporter %s", exporterJar.version)
		return fetchJars(ctx, t, c.Path(r.home()), dest, exporterJar)
	})
	return err
}
