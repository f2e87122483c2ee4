package launch

import (
	"net/http"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/applications"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/applicationtest"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/view"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// spending is a dialect whose launches leave a config map.
type spending struct{ dialect.Dialect }

func (spending) ObsoleteObjects(dialect.Application) []submission.Object {
	return []submission.Object{&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "group"}}}
}

func TestObsoleteObjectsOfThisProcessAreDeletedWithoutARead(t *testing.T) {
	client := fake.NewClientset()
	created := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "group", UID: "uid-of-group"}}
	app := applicationtest.Pi().In(lifecycle.RunningHealthy, 1, 1).Obj()
	app.Status.Firesteel.Launch = &v1alpha1.Launch{ID: "this"}
	record := app.Status.Firesteel.DeepCopy()
	record.Transitions = append(record.Transitions, v1alpha1.Transition{State: string(lifecycle.Failed), End: &v1alpha1.AttemptEnd{}})
	v, l := &view.Application{App: app, Dialect: spending{}}, New(Config{API: applications.Apache(nil), Kube: client})
	l.rememberObsolete(v, "this", []submission.Object{&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "group"}}, created})
	for i, want := range []string{"delete", "delete get"} { // what was deleted is not remembered
		if err := l.DeleteObsolete(t.Context(), v, record); err != nil {
			t.Fatal(err)
		}
		if asks := applicationtest.VerbsOn(client); asks != want {
			t.Errorf("at the end %d it asked to %q, want %q", i, asks, want)
		}
	}
	preconditions := client.Actions()[0].(clienttesting.DeleteActionImpl).DeleteOptions.Preconditions
	if preconditions == nil || *preconditions.UID != "uid-of-group" {
		t.Errorf("preconditions are %v", preconditions)
	}
}

func TestObsoleteObjectsAreDeletedAtTheEndOfTheirLaunch(t *testing.T) {
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "group", nil)
	failed := apierrors.NewInternalError(http.ErrServerClosed)
	for name, test := range map[string]struct {
		before, after lifecycle.State
		launch        string // that the object belongs to; empty if there is no object
		refusal       error
		asks          string
		fails         bool
	}{
		"a run that ends":                  {lifecycle.RunningHealthy, lifecycle.Failed, "this", nil, "get delete", false},
		"one that is suspended":            {lifecycle.RunningHealthy, lifecycle.Suspending, "this", nil, "get delete", false},
		"one whose spec was edited":        {lifecycle.RunningHealthy, lifecycle.Invalidating, "this", nil, "get delete", false},
		"one that goes on":                 {lifecycle.DriverReady, lifecycle.RunningHealthy, "this", nil, "", false},
		"one that was suspended before":    {lifecycle.Suspending, lifecycle.Suspended, "this", nil, "", false},
		"another launch's object":          {lifecycle.RunningHealthy, lifecycle.Failed, "another", nil, "get", false},
		"an object that is gone":           {lifecycle.RunningHealthy, lifecycle.Failed, "", nil, "get", false},
		"one that may not be deleted":      {lifecycle.RunningHealthy, lifecycle.Failed, "this", forbidden, "get delete", false},
		"an API server that is in trouble": {lifecycle.RunningHealthy, lifecycle.Failed, "this", failed, "get delete", true},
	} {
		t.Run(name, func(t *testing.T) {
			client := fake.NewClientset()
			if test.launch != "" {
				if err := client.Tracker().Add(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
					Namespace: "team-a", Name: "group", Labels: map[string]string{dialect.LabelLaunch: test.launch},
				}}); err != nil {
					t.Fatal(err)
				}
			}
			client.PrependReactor("delete", "*", func(clienttesting.Action) (bool, runtime.Object, error) {
				return test.refusal != nil, nil, test.refusal
			})
			app := applicationtest.Pi().In(test.before, 1, 1).Obj()
			app.Status.Firesteel.Launch = &v1alpha1.Launch{ID: "this"}
			record := app.Status.Firesteel.DeepCopy()
			last := record.Transitions[len(record.Transitions)-1]
			last.State = string(test.after)
			if test.after.Failure() {
				last.End = &v1alpha1.AttemptEnd{}
			}
			record.Transitions = append(record.Transitions, last)
			err := New(Config{API: applications.Apache(nil), Kube: client}).DeleteObsolete(t.Context(), &view.Application{App: app, Dialect: spending{}}, record)
			if asks := applicationtest.VerbsOn(client); asks != test.asks || (err != nil) != test.fails {
				t.Errorf("asked the API server to %q, want %q; %v", asks, test.asks, err)
			}
		})
	}
}
