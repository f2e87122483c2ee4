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
		Whole bool
		Pod   corev1.PodSpec
	}
	read(t, "testdata/refused.yaml", &rows)
	for _, row := range rows {
		found := podvalidation.Pod("spec", &row.Pod)
		if row.Whole {
			found = podvalidation.StatefulSet("spec", &row.Pod)
		}
		if len(found) != 1 || found[0].Field != "spec."+row.Field || found[0].Remedy == "" {
			t.Errorf("spec.%s is refused, and it finds %v", row.Field, found.Sentences())
		}
	}
}

func TestValuesThatTheAPIServerAcceptsAreNotFound(t *testing.T) {
	var pods []corev1.PodSpec
	read(t, "testdata/accepted.yaml", &pods)
	for _, pod := range pods {
		if found := podvalidation.StatefulSet("spec", &pod); len(found) > 0 {
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

func TestContainersOfAStatefulSetHaveANameAndAnImage(t *testing.T) {
	pod := corev1.PodSpec{InitContainers: []corev1.Container{{Name: "a"}}, Containers: []corev1.Container{{Name: "b", Image: "i"}, {Image: "i"}}}
	want := []string{"spec.containers[1].name is missing: set it.", "spec.initContainers[0].image is missing: set it."}
	found := podvalidation.StatefulSet("spec", &pod).Sentences()
	slices.Sort(found)
	if !slices.Equal(found, want) {
		t.Errorf("it finds %q", found)
	}
}

func TestVolumeClaimTemplatesDefineVolumes(t *testing.T) {
	pod := corev1.PodSpec{
		Volumes: []corev1.Volume{{Name: "b", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}, HostPath: &corev1.HostPathVolumeSource{}}}},
		Containers: []corev1.Container{{Name: "c", Image: "i", VolumeMounts: []corev1.VolumeMount{
			{Name: "a", MountPath: "/a"}, {Name: "b", MountPath: "/b"}, {Name: "d", MountPath: "/d"},
		}}},
	}
	want := []string{`spec.containers[0].volumeMounts[2].name "d" names no volume of the Pod: define the volume, or correct the name.`}
	if found := podvalidation.StatefulSet("spec", &pod, "a", "b").Sentences(); !slices.Equal(found, want) {
		t.Errorf("it finds %q", found)
	}
}

func TestLabelsThatAreOverwrittenMayHaveAnyValue(t *testing.T) {
	found := podvalidation.Labels("metadata.labels", map[string]string{"a b": "c", "d": "x y", "e": "x y", "f": "g"}, map[string]bool{"e": true})
	if len(found) != 2 || found[0].Field != "metadata.labels[a b]" || found[1].Field != "metadata.labels[d]" {
		t.Errorf("it finds %q", found.Sentences())
	}
}
