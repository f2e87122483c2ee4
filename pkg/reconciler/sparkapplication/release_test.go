package sparkapplication

import (
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

func TestOnlyTheAbsenceOfItsUIDProvesADriverGone(t *testing.T) {
	conflict := apierrors.NewConflict(corev1.Resource("pods"), "pi-0-driver", errors.New("precondition failed"))
	for name, test := range map[string]struct {
		refusal error
		found   string // the uid of the Pod that has the name; empty where none has
		// accepted and failed are what comes of the deletion.
		accepted, failed bool
	}{
		"a deletion that is accepted":            {found: "driver", accepted: true},
		"a Pod that is not found":                {refusal: apierrors.NewNotFound(corev1.Resource("pods"), "pi-0-driver")},
		"a conflict with a namesake":             {refusal: conflict, found: "another"},
		"a conflict after which nothing is left": {refusal: conflict},
		"a conflict with another write":          {refusal: conflict, found: "driver", failed: true},
		"an API server in trouble":               {refusal: apierrors.NewInternalError(errors.New("etcd")), found: "driver", failed: true},
	} {
		t.Run(name, func(t *testing.T) {
			client := fake.NewClientset()
			if test.found != "" {
				pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "pi-0-driver"}}
				pod.UID = "driver"
				if test.found != "driver" {
					pod.UID = "another"
				}
				if err := client.Tracker().Add(pod); err != nil {
					t.Fatal(err)
				}
			}
			client.PrependReactor("delete", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
				return test.refusal != nil, nil, test.refusal
			})
			r := &Reconciler{kube: client}
			accepted, err := r.deleteDriver(t.Context(), "team-a", "pi-0-driver", "driver", nil)
			if accepted != test.accepted || (err != nil) != test.failed {
				t.Errorf("accepted %t, error %v; want accepted %t, an error %t", accepted, err, test.accepted, test.failed)
			}
		})
	}
}
