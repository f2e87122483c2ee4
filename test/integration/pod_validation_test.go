package integration

import (
	"os"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/firesteel-dev/firesteel/pkg/podvalidation"
)

// What pkg/podvalidation finds, a real API server refuses; and it accepts what that package's test accepts.
func TestPodValidationIsThatOfTheAPIServer(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	read := func(file string, into any) {
		text, err := os.ReadFile("../../pkg/podvalidation/testdata/" + file)
		s.must(err)
		s.must(yaml.UnmarshalStrict(text, into))
	}
	// A Pod needs a container.
	try := func(pod corev1.PodSpec) error {
		if len(pod.Containers) == 0 {
			pod.Containers = []corev1.Container{{Name: "spark", Image: "spark"}}
		}
		_, err := s.tryPod(pod)
		return err
	}
	var refused []struct {
		Field string
		Whole bool // it is held against a whole Pod anyway
		Pod   corev1.PodSpec
	}
	read("refused.yaml", &refused)
	for _, row := range refused {
		if err := try(row.Pod); !apierrors.IsInvalid(err) && !apierrors.IsForbidden(err) {
			s.Errorf("the API server does not refuse the %s of %+v: %v", row.Field, row.Pod, err)
		}
	}
	var accepted []corev1.PodSpec
	read("accepted.yaml", &accepted)
	for _, pod := range accepted {
		s.must(try(pod))
	}
}

// A StatefulSet, as each role of a cluster is one, takes fewer Pods than there are.
func TestPodValidationOfStatefulSetsIsThatOfTheAPIServer(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	try := func(pod corev1.PodSpec) error {
		labels := map[string]string{"spark-role": "worker"}
		pod.Containers = []corev1.Container{{Name: "worker", Image: "spark"}}
		_, err := s.Kube.AppsV1().StatefulSets(s.ns).Create(t.Context(), &appsv1.StatefulSet{
			ObjectMeta: metav1.ObjectMeta{Name: "worker"},
			Spec: appsv1.StatefulSetSpec{
				Selector: &metav1.LabelSelector{MatchLabels: labels},
				Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: pod},
			},
		}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err
	}
	for name, pod := range map[string]corev1.PodSpec{
		"none": {}, "Always": {RestartPolicy: corev1.RestartPolicyAlways}, "Never": {RestartPolicy: corev1.RestartPolicyNever},
		"OnFailure": {RestartPolicy: corev1.RestartPolicyOnFailure}, "a deadline": {ActiveDeadlineSeconds: ptr.To[int64](5)},
	} {
		err, found := try(pod), podvalidation.StatefulSet("spec", &pod)
		if err != nil && !apierrors.IsInvalid(err) && !apierrors.IsForbidden(err) || (err != nil) != (len(found) > 0) {
			t.Errorf("%s: the API server says %v, and we found %v", name, err, found.Sentences())
		}
	}
}
