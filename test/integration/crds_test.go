package integration

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/firesteel-dev/firesteel/pkg/crds"
	"github.com/firesteel-dev/firesteel/test/harness/controlplane"
)

func TestCRDsAreAppliedClientSide(t *testing.T) {
	t.Parallel()
	manifests, err := controlplane.Manifests(configFolder, "300-*.yaml")
	if err != nil || len(manifests) == 0 {
		t.Fatalf("no CRDs in %s: %v", configFolder, err)
	}
	for _, manifest := range manifests {
		// The control plane applied them when it was started, as users do: without --server-side.
		out, err := controlPlanes.of(t).Plane.Kubectl(t.Context(), "", "get", "--output=json", "--filename="+manifest)
		if err != nil {
			t.Errorf("%s: %v", manifest, err)
			continue
		}
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := json.Unmarshal([]byte(out), crd); err != nil {
			t.Fatal(err)
		}
		if crd.Annotations[corev1.LastAppliedConfigAnnotation] == "" {
			t.Errorf("%s was not applied by kubectl apply: %v", crd.Name, crd.Annotations)
		}
	}
}

func TestCRDsOfAnotherVersionAreReported(t *testing.T) {
	alone(t)
	s := newEnv(t)
	process := s.ownController(controller{})
	s.untilReady(process)
	const name = "sparkclusters.spark.apache.org"
	annotate := func(ctx context.Context, value string) {
		_, err := s.Plane.Kubectl(ctx, "", "annotate", "--overwrite", "crd", name, crds.AnnotationSchema+value)
		s.check(err)
	}
	install := func(ctx context.Context) {
		_, err := s.Plane.Kubectl(ctx, "", "apply", "--filename="+configFolder+"/300-sparkcluster.yaml")
		s.check(err)
	}
	t.Cleanup(func() { install(context.Background()) })
	annotate(t.Context(), "=another")
	s.untilLogged(process, `"CRD is not of this version"`)
	s.untilLogged(process, "It is of another version of Firesteel")
	annotate(t.Context(), "-")
	s.untilLogged(process, "It is of an older version of Firesteel")
	install(t.Context())
	s.untilLogged(process, `"CRD is of this version"`)
}

func TestCRDsExplainFieldsToKubectl(t *testing.T) {
	t.Parallel()
	plane := controlPlanes.of(t).Plane
	const (
		apache    = "spark.apache.org/v1"
		kubeflow  = "sparkoperator.k8s.io/v1beta2"
		firesteel = "firesteel.dev/v1alpha1"
	)
	for _, c := range []struct{ field, apiVersion, want string }{
		{"sparkapplications", apache, "SparkApplication is one Spark application: a driver and its executors, run to their end."},
		{"sparkapplications.spec.driverSpec", apache, "driverSpec describes the driver Pod."},
		{"sparkapplications.spec.driverSpec.podTemplateSpec", apache, "podTemplateSpec is the Pod template that Spark begins with"},
		{"sparkapplications.spec.applicationTolerations.restartConfig.restartBackoffMillis", "spark.apache.org/v1alpha1", "Default: 30000. Unit: milliseconds."},
		{"sparkapplications.status.firesteel.verdict", apache, "verdict is a handler's answer"},
		{"sparkclusters.spec.clusterTolerations.instanceConfig.initWorkers", apache, "initWorkers is the number of workers"},
		{"sparkapplications.spec.driver.affinity", kubeflow, "affinity is the affinity of the Pod."},
		{"sparkapplications.spec.hadoopConf", kubeflow, "hadoopConf are Hadoop properties."},
		{"scheduledsparkapplications.spec.template", kubeflow, "template is the spec of a SparkApplication"},
		{"scheduledsparkapplications.spec.timeZone", firesteel, "Default: UTC."},
	} {
		var out string
		var problem error
		err := wait.PollUntilContextTimeout(t.Context(), pollInterval, timeout, true, func(ctx context.Context) (bool, error) {
			out, problem = plane.Kubectl(ctx, "", "explain", c.field, "--api-version="+c.apiVersion)
			return problem == nil, nil // the API server describes kinds some time after it serves them
		})
		if err != nil {
			t.Errorf("%s: %v", c.field, problem)
			continue
		}
		if text := strings.Join(strings.Fields(out), " "); !strings.Contains(text, c.want) {
			t.Errorf("kubectl explain %s of %s does not print %q:\n%s", c.field, c.apiVersion, c.want, out)
		}
	}
}
