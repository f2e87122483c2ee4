package application

import (
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"

	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/applicationtest"
)

// The API server may still execute a status write whose response was lost.
func TestLaunchIsNotDoneAgainIfItsStatusWriteFailsAndItsDriverDisappears(t *testing.T) {
	app := applicationtest.Pi().Obj()
	app.Spec.MainClass, app.Spec.Jars = "Main", "local:///app.jar"
	l := newLife(t, app)
	lost := true
	l.spark.PrependReactor("update", "sparkapplications", func(action clienttesting.Action) (bool, runtime.Object, error) {
		return lost && action.GetSubresource() == "status", nil, errors.New("unexpected EOF")
	})
	if err := l.Reconcile(l.ctx, "team-a/pi"); err == nil {
		t.Fatal("the status write did not fail")
	}
	l.wants(t, "at the launch", "create configmaps", "create pods", "create services", "patch sparkapplications", "update sparkapplications/status")
	lost = false
	if err := l.kube.Tracker().Delete(pods, "team-a", "pi-0-driver"); err != nil {
		t.Fatal(err)
	}
	l.reconcile(t)
	l.wants(t, "after the lost response", "update sparkapplications/status")
	if launched := l.stored(t).Status.Firesteel.Launch; launched.DriverUID != "uid-of-driver" {
		t.Errorf("the record has %+v", launched)
	}
}

var pods = corev1.SchemeGroupVersion.WithResource("pods")
