package application

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/applicationtest"
)

func TestApplicationsAreNewUntilAControllerBegins(t *testing.T) {
	s := newNewApplications(apache.API)
	s.added(applicationtest.Pi().Obj(), true)
	s.added(applicationtest.With(applicationtest.Pi().UID("cared for"), func(app *sparkv1.SparkApplication) { app.Finalizers = []string{apache.API.Finalizer} }), true)
	s.added(applicationtest.With(applicationtest.Pi().UID("held"), func(app *sparkv1.SparkApplication) { app.Finalizers = []string{"example.org/held"} }), true)
	for uid, want := range map[types.UID]bool{"uid-of-pi": true, "cared for": false, "held": true, "unseen": false} {
		if got := s.has(uid); got != want {
			t.Errorf("%s is new: %t", uid, got)
		}
	}
	s.statusWritten("uid-of-pi")
	if s.has("uid-of-pi") {
		t.Error("an application with a status is still new")
	}
}

// Where an operator sets no finalizer, it may have begun with whatever was there before Firesteel.
func TestApplicationsOfAnAPIWithoutFinalizerAreNewIfTheyCameSince(t *testing.T) {
	s := newNewApplications(&dialect.API{Finalizer: "firesteel.dev/driver"})
	s.added(applicationtest.Pi().UID("there before").Obj(), true)
	s.added(applicationtest.Pi().UID("came since").Obj(), false)
	for uid, want := range map[types.UID]bool{"there before": false, "came since": true} {
		if got := s.has(uid); got != want {
			t.Errorf("%s is new: %t", uid, got)
		}
	}
}
