package launch

import (
	"errors"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/eventlog"
)

func TestOnlyADriverWithSidecarIsLaunchedOnceMoreWithoutIt(t *testing.T) {
	driver := &corev1.Pod{
		TypeMeta: metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"}, ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "pi-0-driver"},
		Spec: corev1.PodSpec{InitContainers: []corev1.Container{{Name: "fetch"}, {Name: eventlog.Container}}},
	}
	plain := driver.DeepCopy()
	plain.Spec.InitContainers = plain.Spec.InitContainers[:1]
	pods := corev1.Resource("pods")
	refused := func(err error) *refusedError { return &refusedError{object: describe(driver), err: err} }
	policy := apierrors.NewForbidden(pods, "pi-0-driver", errors.New("ValidatingAdmissionPolicy 'sidecars' denied request: no sidecars here"))
	for name, test := range map[string]struct {
		refused *refusedError
		driver  *corev1.Pod
		want    bool
	}{
		"a policy":          {refused(policy), driver, true},
		"a quota":           {refused(apierrors.NewForbidden(pods, "pi-0-driver", errors.New("exceeded quota: team"))), driver, true},
		"an invalid Pod":    {refused(apierrors.NewInvalid(corev1.SchemeGroupVersion.WithKind("Pod").GroupKind(), "pi-0-driver", nil)), driver, true},
		"without a sidecar": {refused(policy), plain, false},
		"another object":    {&refusedError{object: "Service team-a/pi-0-driver-svc", err: policy}, driver, false},
		"a missing account": {refused(apierrors.NewForbidden(pods, "", errors.New(`error looking up service account team-a/spark: serviceaccount "spark" not found`))), driver, false},
		"a name of another": {refused(errors.New("it exists already and belongs to Pod other")), driver, false},
	} {
		if got := mayBeOfSidecar(test.refused, test.driver); got != test.want {
			t.Errorf("%s (%s): %t, want %t", name, test.refused.reason(), got, test.want)
		}
	}
}

func TestADriverWithoutItsSidecarHasAWarning(t *testing.T) {
	if warnings := withoutEventLogs(v1alpha1.Attempt{}); warnings != nil {
		t.Errorf("the warnings are %v", warnings)
	}
	want := []string{"The driver runs without the sidecar that sends its event log to the archive: it held up the driver for 1m0s."}
	if got := withoutEventLogs(v1alpha1.Attempt{WithoutEventLogs: "it held up the driver for 1m0s"}); !slices.Equal(got, want) {
		t.Errorf("the warnings are %v", got)
	}
}
