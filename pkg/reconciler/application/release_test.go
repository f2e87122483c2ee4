package application

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/applications"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/applicationtest"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/drivers"
)

func TestReleaseOfALaunchWhoseDriverIsNotRecorded(t *testing.T) {
	for name, test := range map[string]struct {
		found *applicationtest.Driver // the Pod that has the name; nil where none has
		want  lifecycle.Observation
	}{
		"records the driver before it deletes it": {applicationtest.DriverOf("this", "found"), lifecycle.Observation{Launched: "found"}},
		"finds that there is none":                {nil, lifecycle.Observation{DriverGone: true}},
		"leaves another launch's alone":           {applicationtest.DriverOf("other", "found"), lifecycle.Observation{DriverGone: true}},
	} {
		t.Run(name, func(t *testing.T) {
			client := fake.NewClientset()
			if test.found != nil {
				if err := client.Tracker().Add(test.found.Obj()); err != nil {
					t.Fatal(err)
				}
			}
			app := applicationtest.Pi().In(lifecycle.Submitted, 1, 1).Obj()
			app.Status.Firesteel.Launch = &v1alpha1.Launch{ID: "this", DriverPod: "pi-0-driver"}
			var seen lifecycle.Observation
			if err := (&Reconciler{api: applications.Apache(nil), kube: client, deleter: drivers.NewDeleter(client, applicationtest.ClockAt(applicationtest.Start), nil)}).release(t.Context(), app, &seen, false); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, seen); diff != "" {
				t.Errorf("seen (-want +got):\n%s", diff)
			}
			if verbs := applicationtest.VerbsOn(client); verbs != "get" {
				t.Errorf("the API server was asked to %s", verbs)
			}
		})
	}
}

func TestOnlyTheAbsenceOfItsUIDProvesADriverGone(t *testing.T) {
	conflict := apierrors.NewConflict(corev1.Resource("pods"), "pi-0-driver", errors.New("precondition failed"))
	for name, test := range map[string]struct {
		refusal error
		found   string // the uid of the Pod that has the name; empty where none has
		// accepted and failed are the result of the deletion.
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
			driver := drivers.Reference{Namespace: "team-a", Name: "pi-0-driver", UID: "driver"}
			accepted, err := drivers.NewDeleter(client, applicationtest.ClockAt(applicationtest.Start), nil).Delete(t.Context(), applicationtest.Pi().Obj(), driver, drivers.AttemptReleased, false)
			if accepted != test.accepted || (err != nil) != test.failed {
				t.Errorf("accepted %t, error %v; want accepted %t, an error %t", accepted, err, test.accepted, test.failed)
			}
		})
	}
}
