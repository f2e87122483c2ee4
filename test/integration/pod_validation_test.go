package integration

import (
	"os"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/yaml"
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
