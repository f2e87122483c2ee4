package integration

import (
	"os/exec"
	"path/filepath"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The chart runs cmd/setup before it installs and upgrades.
func TestSetupAppliesCRDs(t *testing.T) {
	t.Parallel()
	s := ownPlane(t)
	setup := func(arguments ...string) (string, error) {
		command := exec.CommandContext(t.Context(), filepath.Join(s.programs, "setup"), append([]string{"crds"}, arguments...)...)
		command.Env = append(command.Environ(), "KUBECONFIG="+s.Plane.Kubeconfig())
		output, err := command.CombinedOutput()
		return string(output), err
	}
	crds := s.Dynamic.Resource(apiextensionsv1.SchemeGroupVersion.WithResource("customresourcedefinitions"))
	const name = "sparkclusters.spark.apache.org"

	// kubectl applied them, and now they are upgraded.
	if output, err := setup("spark.apache.org", "sparkoperator.k8s.io"); err != nil {
		t.Fatalf("upgrade: %v: %s", err, output)
	}
	s.create(App("stays").Suspended())

	_, err := s.Plane.Kubectl(t.Context(), "", "label", "crd", name, "app.kubernetes.io/part-of=another", "--overwrite")
	s.must(err)
	output, err := setup("spark.apache.org")
	if err == nil || !contains(output, name+" belongs to another owner") || !contains(output, "kubectl-label") {
		t.Errorf("the owner of a foreign CRD is reported by %v: %s", err, output)
	}
	if output, err := setup("-take-over", "spark.apache.org"); err != nil {
		t.Errorf("take over: %v: %s", err, output)
	}
	crd, err := crds.Get(t.Context(), name, metav1.GetOptions{})
	s.must(err)
	if crd.GetLabels()["app.kubernetes.io/part-of"] != "firesteel" {
		t.Errorf("the CRD that was taken over has the labels %v", crd.GetLabels())
	}
	if crd.GetAnnotations()["helm.sh/resource-policy"] != "keep" {
		t.Errorf("an upgrade of a Helm release may delete the CRD: it has the annotations %v", crd.GetAnnotations())
	}
	if _, err := s.Spark.SparkV1().SparkApplications(s.ns).Get(t.Context(), "stays", metav1.GetOptions{}); err != nil {
		t.Errorf("an application did not stay: %v", err)
	}

	// In a cluster without any.
	_, err = s.Plane.Kubectl(t.Context(), "", "delete", "--all", "customresourcedefinitions")
	s.must(err)
	if output, err := setup("sparkoperator.k8s.io"); err != nil {
		t.Fatalf("install: %v: %s", err, output)
	}
	installed, err := crds.List(t.Context(), metav1.ListOptions{})
	s.must(err)
	if len(installed.Items) != 2 {
		t.Errorf("there are %d CRDs, want those of one API, 2", len(installed.Items))
	}
}
