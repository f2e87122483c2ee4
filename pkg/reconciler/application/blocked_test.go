package application

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/record"
	"knative.dev/pkg/controller"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/applicationtest"
)

// newLaunched returns the life of an application whose driver is requested.
func newLaunched(t *testing.T) *life {
	t.Helper()
	app := applicationtest.Pi().Obj()
	app.Spec.MainClass, app.Spec.Jars = "Main", "local:///app.jar"
	l := newLife(t, app)
	l.reconcile(t)
	l.writes()
	return l
}

// becomes has the API server store the application with a change that is not Firesteel's.
func (l *life) becomes(t *testing.T, change func(*sparkv1.SparkApplication)) {
	t.Helper()
	app := l.stored(t)
	change(app)
	if err := l.spark.Tracker().Update(sparkv1.SchemeGroupVersion.WithResource("sparkapplications"), app, "team-a"); err != nil {
		t.Fatal(err)
	}
	l.r.recordGuard.Forget(app) // what it wrote is older
}

func deleted(app *sparkv1.SparkApplication) {
	app.DeletionTimestamp = &metav1.Time{Time: applicationtest.Start}
}

// undecodable is an edit that this version cannot decode.
func undecodable(app *sparkv1.SparkApplication) {
	app.Undecodable = "spec.driverArgs: a number where a list belongs"
}

func TestUndecodableApplicationIsReportedOnce(t *testing.T) {
	l := newLaunched(t)
	l.becomes(t, undecodable)
	l.reconcile(t)
	l.wants(t, "when it cannot be decoded", "patch sparkapplications/status")
	l.becomes(t, undecodable)
	l.reconcile(t)
	l.wants(t, "after it was reported")
}

func TestUndecodableApplicationWithoutARecordLosesItsDriverWhenItIsDeleted(t *testing.T) {
	l := newLaunched(t)
	l.becomes(t, func(app *sparkv1.SparkApplication) {
		undecodable(app)
		deleted(app)
		app.Status.Firesteel = nil
	})
	l.reconcile(t)
	l.wants(t, "when it is deleted", "delete pods")
}

func TestApplicationWithARecordOfANewerVersionIsOnlyReported(t *testing.T) {
	l := newLaunched(t)
	l.becomes(t, func(app *sparkv1.SparkApplication) { app.Status.Firesteel.Format = v1alpha1.Format + 1 })
	told := record.NewFakeRecorder(9)
	l.ctx = controller.WithEventRecorder(l.ctx, told)
	l.reconcile(t)
	l.reconcile(t)
	l.wants(t, "with a record of a newer version")
	if len(told.Events) != 1 {
		t.Errorf("%d Kubernetes Events report it, want one", len(told.Events))
	}
}

func TestDeletedApplicationWithARecordOfANewerVersionWaitsForThatVersion(t *testing.T) {
	l := newLaunched(t)
	l.becomes(t, func(app *sparkv1.SparkApplication) {
		app.Status.Firesteel.Format = v1alpha1.Format + 1
		deleted(app)
	})
	err := l.Reconcile(l.ctx, "team-a/pi")
	l.wants(t, "when it is deleted", "delete pods")
	if requeue, after := controller.IsRequeueKey(err); !requeue || after <= 0 {
		t.Fatalf("it ends with %v, want a wait for the version that wrote the record", err)
	}
	l.after(24 * time.Hour)
	if err := l.Reconcile(l.ctx, "team-a/pi"); err != nil {
		t.Errorf("after the deletion grace it ends with %v", err)
	}
}
