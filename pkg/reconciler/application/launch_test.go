package application

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/applications"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// A launch of which nothing is missing needs no completion, whatever another would look like.
func TestLaunched(t *testing.T) {
	driver := func(id string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Namespace: "team-a", Name: "pi-0-driver", UID: "uid-of-driver", Labels: map[string]string{labelLaunch: id},
		}}
	}
	for name, test := range map[string]struct {
		existing []runtime.Object
		answer   error // to whoever looks for a Service
		want     types.UID
		fails    bool
	}{
		"where all of it is there":             {[]runtime.Object{driver("this"), ofLaunch("this").Obj()}, nil, "uid-of-driver", false},
		"not where nothing is":                 {nil, nil, "", false},
		"not where its driver is missing":      {[]runtime.Object{ofLaunch("this").Obj()}, nil, "", false},
		"not where its Service is missing":     {[]runtime.Object{driver("this")}, nil, "", false},
		"not where one is an earlier launch's": {[]runtime.Object{driver("this"), ofLaunch("earlier").Obj()}, nil, "", false},
		"not where one is going":               {[]runtime.Object{driver("this"), ofLaunch("this").Going().Obj()}, nil, "", false},
		"not where one may not be looked at": {
			[]runtime.Object{driver("this")}, apierrors.NewForbidden(corev1.Resource("services"), "pi-0-driver-svc", nil), "", false,
		},
		"which is unknown where nobody answers": {
			[]runtime.Object{driver("this")}, apierrors.NewServiceUnavailable("later"), "", true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			client := fake.NewClientset(test.existing...)
			client.PrependReactor("get", "services", func(clienttesting.Action) (bool, runtime.Object, error) {
				return test.answer != nil, nil, test.answer
			})
			wanted := ofLaunch("another").Obj()
			wanted.Namespace = "" // as it is built
			objects := &submission.Objects{Driver: driver("another"), Owned: []submission.Object{wanted}}
			got, err := (&Reconciler{api: applications.Apache(nil), kube: client}).launched(context.Background(), &v1alpha1.Launch{ID: "this"}, objects)
			if got != test.want || (err != nil) != test.fails {
				t.Errorf("launched %q, %v; want %q", got, err, test.want)
			}
		})
	}
}
