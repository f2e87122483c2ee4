package integration

import (
	"context"
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
)

// If another operator's CRD prunes the record, nothing is launched, and log and Event name the CRD to apply. With Firesteel's CRD
// the application starts.
func TestLaunchWaitsIfTheCRDPrunesTheRecord(t *testing.T) {
	alone(t)
	s := newEnv(t)
	s.withoutRecord()
	process := s.ownController(controller{sink: s.sink.URL()})
	s.create(App("pi"))
	s.untilKubeEvent("pi", corev1.EventTypeWarning, "WrongCustomResourceDefinition")
	s.requestsAtRest()
	if writes := len(s.requests()); writes > 8 {
		t.Errorf("the controller asked %d times about an application that it can do nothing for: %v", writes, s.requests())
	}
	if drivers := s.driverHistory.driversOf(s.ns, "pi"); len(drivers) > 0 {
		t.Errorf("it was given %d drivers", len(drivers))
	}

	process.Kill() // or wait for the minute between its tries
	s.withRecord()
	s.ownController(controller{sink: s.sink.URL()})
	s.run("pi", 0).succeed()
	s.untilState("pi", "ResourceReleased")
}

var crdResource = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// withoutRecord makes the CRD prune status.firesteel until the end of the test.
func (s *env) withoutRecord() {
	s.Helper()
	const name = "sparkapplications.spark.apache.org"
	crd, err := s.Dynamic.Resource(crdResource).Get(s.Context(), name, metav1.GetOptions{})
	s.must(err)
	versions, _, err := unstructured.NestedSlice(crd.Object, "spec", "versions")
	s.must(err)
	for _, version := range versions {
		unstructured.RemoveNestedField(version.(map[string]any),
			"schema", "openAPIV3Schema", "properties", "status", "properties", "firesteel")
	}
	s.must(unstructured.SetNestedSlice(crd.Object, versions, "spec", "versions"))
	_, err = s.Dynamic.Resource(crdResource).Update(s.Context(), crd, metav1.UpdateOptions{})
	s.must(err)
	s.Cleanup(func() { s.installCRD(context.Background()) })
	s.untilRecordIsStored(false)
}

func (s *env) withRecord() {
	s.Helper()
	s.installCRD(s.Context())
	s.untilRecordIsStored(true)
}

func (s *env) installCRD(ctx context.Context) {
	if _, err := s.Plane.Kubectl(ctx, "", "apply", "--filename="+configFolder+"/300-sparkapplication.yaml"); err != nil {
		s.Error(err)
	}
}

// untilRecordIsStored waits until the API server uses its current CRD.
func (s *env) untilRecordIsStored(kept bool) {
	s.Helper()
	probe := s.create(App("probe"))
	record := v1alpha1.Record{Attempt: v1alpha1.Attempt{Since: metav1.NowMicro()}}
	patch, err := json.Marshal(map[string]any{"status": map[string]any{"firesteel": record}})
	s.must(err)
	s.must(wait.PollUntilContextTimeout(s.Context(), pollInterval, timeout, true, func(ctx context.Context) (bool, error) {
		stored, err := s.apps().Patch(ctx, probe.Name, types.MergePatchType, patch, metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}}, "status")
		if err != nil {
			return false, err
		}
		return (stored.Status.Firesteel != nil) == kept, nil
	}))
	s.must(s.apps().Delete(s.Context(), probe.Name, metav1.DeleteOptions{}))
}
