package apierror_test

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/kube/apierror"
)

func TestAnnotationsThatAreTooLongAreRefusedAsTheAPIServerRefusesThem(t *testing.T) {
	const limit = 256 << 10
	most := map[string]string{"a": strings.Repeat("x", limit-1)}
	beyond := map[string]string{"a": strings.Repeat("x", limit)}
	set := func(annotations map[string]string) *appsv1.StatefulSet {
		return &appsv1.StatefulSet{Spec: appsv1.StatefulSetSpec{Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Annotations: annotations}}}}
	}
	for name, test := range map[string]struct {
		object metav1.Object
		want   string
	}{
		"none":                        {&corev1.Service{}, ""},
		"as many as may be":           {&corev1.Service{ObjectMeta: metav1.ObjectMeta{Annotations: most}}, ""},
		"too many":                    {&corev1.Service{ObjectMeta: metav1.ObjectMeta{Annotations: beyond}}, "metadata.annotations: Too long: may not be more than 262144 bytes"},
		"as many as a template takes": {set(most), ""},
		"too many in a template":      {set(beyond), "spec.template.metadata.annotations: Too long: may not be more than 262144 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			err := apierror.Oversized("Service", test.object)
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("it is refused with %v, want %q", err, test.want)
			}
			if err != nil && (!apierror.IsTerminal(err) || apierror.Reason(err) != apierror.Invalid) {
				t.Errorf("%v is no last word", err)
			}
		})
	}
}
