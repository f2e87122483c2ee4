package podvalidation_test

import (
	"os"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/firesteel-dev/firesteel/pkg/podvalidation"
)

func read(t *testing.T, file string, into any) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict(text, into); err != nil {
		t.Fatal(err)
	}
}

// An integration test holds the same rows against a real API server.
func TestValuesThatTheAPIServerRefusesAreFound(t *testing.T) {
	var rows []struct {
		Field string
		Pod   corev1.PodSpec
	}
	read(t, "testdata/refused.yaml", &rows)
	for _, row := range rows {
		found := podvalidation.Pod("spec", &row.Pod)
		if len(found) != 1 || found[0].Field != "spec."+row.Field || found[0].Remedy == "" {
			t.Errorf("spec.%s is refused, and it finds %v", row.Field, found.Sentences())
		}
	}
}

func TestValuesThatTheAPIServerAcceptsAreNotFound(t *testing.T) {
	var pods []corev1.PodSpec
	read(t, "testdata/accepted.yaml", &pods)
	for _, pod := range pods {
		if found := podvalidation.Pod("spec", &pod); len(found) > 0 {
			t.Errorf("it finds %v", found.Sentences())
		}
	}
}

// Operators of tolerations that only some versions of Kubernetes have are left to the API server.
func TestNewOperatorsOfTolerationsAreLeftToTheAPIServer(t *testing.T) {
	pod := corev1.PodSpec{Tolerations: []corev1.Toleration{{Key: "a", Operator: corev1.TolerationOpLt, Value: "5"}}}
	if found := podvalidation.Pod("spec", &pod); len(found) > 0 {
		t.Errorf("it finds %v", found.Sentences())
	}
}

func TestContainersBesideSparksNeedAnImage(t *testing.T) {
	found := podvalidation.Sidecars("spec.driver.sidecars", []corev1.Container{{Name: "a"}})
	if len(found) != 1 || found[0].Error() != "spec.driver.sidecars[0].image is missing: set it" {
		t.Errorf("it finds %v", found.Sentences())
	}
}

func TestPodsOfAStatefulSetAlwaysRestart(t *testing.T) {
	pod := corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, ActiveDeadlineSeconds: ptr.To[int64](5), PriorityClassName: "high", DNSPolicy: "Never"}
	want := []string{
		`spec.dnsPolicy "Never" is no value of the field: write one of ClusterFirst, ClusterFirstWithHostNet, Default, None.`,
		`spec.restartPolicy "Never" is no value of the field: write Always.`,
		"spec.activeDeadlineSeconds 5 cannot be set for the Pods of a StatefulSet: leave it out.",
	}
	if found := podvalidation.StatefulSet("spec", &pod).Sentences(); !slices.Equal(found, want) {
		t.Errorf("it finds %q", found)
	}
	pod = corev1.PodSpec{RestartPolicy: corev1.RestartPolicyAlways}
	if found := podvalidation.StatefulSet("spec", &pod); len(found) > 0 {
		t.Errorf("it finds %v", found.Sentences())
	}
}
