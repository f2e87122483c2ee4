package integration

import (
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/firesteel-dev/firesteel/pkg/cluster/resources"
	"github.com/firesteel-dev/firesteel/pkg/config"
)

// enforcesRestricted has the API server refuse Pods in the env's namespace that do not meet the restricted profile.
func (s *env) enforcesRestricted() {
	s.Helper()
	_, err := s.Kube.CoreV1().Namespaces().Patch(s.Context(), s.ns, types.MergePatchType,
		[]byte(`{"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "restricted"}}}`), metav1.PatchOptions{})
	s.must(err)
	s.untilRefused("violates PodSecurity", s.creating(plainPod("plain")))
}

// tryPod asks the API server whether it would create a Pod.
func (s *env) tryPod(spec corev1.PodSpec) (*corev1.Pod, error) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{GenerateName: "try-"}, Spec: spec}
	return s.Kube.CoreV1().Pods(s.ns).Create(s.Context(), pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
}

// mustAdmit fails the test if the API server refuses a Pod.
func (s *env) mustAdmit(what string, spec corev1.PodSpec) {
	s.Helper()
	if _, err := s.tryPod(spec); err != nil {
		s.Errorf("%s: %v", what, err)
	}
}

// executorTemplate returns the template from which a driver makes executors, with an image, as Spark adds it.
func (s *env) executorTemplate(d *driver) corev1.PodSpec {
	s.Helper()
	of := slices.IndexFunc(d.Spec.Volumes, func(volume corev1.Volume) bool { return volume.Name == "pod-template-volume" })
	if of < 0 {
		s.Fatalf("the driver %s has no template for executors", d.Name)
	}
	made := until(s, s.Kube.CoreV1().ConfigMaps(s.ns), d.Spec.Volumes[of].ConfigMap.Name, "exist", func(*corev1.ConfigMap) bool { return true })
	var pod corev1.Pod
	s.must(yaml.Unmarshal([]byte(made.Data["podspec-configmap-key"]), &pod))
	pod.Spec.Containers[0].Image = "spark"
	return pod.Spec
}

func TestPodSecurityNamespaceThatEnforcesTheRestrictedProfileAdmitsAllPods(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	restricted := map[string]string{"pod-security": "restricted"}
	s.ownDefaults(config.OwnDefaultsName, ownDefaultsLabel, restricted)
	s.ownDefaults(config.OwnKubeflowName, ownDefaultsLabel, restricted)
	s.untilDefaultsChanged(s.shared, 2)
	s.enforcesRestricted()

	s.create(App("plain"))
	s.mustAdmit("an executor", s.executorTemplate(s.run("plain", 0)))
	s.kubeflowApplication(sparkPi("4.1.1"))
	s.mustAdmit("an executor of the Kubeflow operator's API", s.executorTemplate(s.runPi()))
	s.createCluster(Cluster("standalone"))
	for _, name := range []string{resources.MasterName("standalone"), resources.WorkerName("standalone")} {
		s.mustAdmit(name, s.untilSet(name, "exist", func(*appsv1.StatefulSet) bool { return true }).Spec.Template.Spec)
	}

	s.create(App("on-the-host").Driver(corev1.PodSpec{HostNetwork: true}))
	s.untilState("on-the-host", "ResourceReleased")
	if warning := s.condition("on-the-host", "Warning"); warning == nil || !contains(warning.Message, "hostNetwork=true") {
		t.Errorf("the condition Warning is %v", warning)
	}
}
