package applicationtest

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

// Start is the time at which tests begin.
var Start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// Application builds a SparkApplication as it is stored.
type Application struct{ App sparkv1.SparkApplication }

// Pi returns an application as a user creates it.
func Pi() *Application {
	a := &Application{}
	a.App.Namespace, a.App.Name, a.App.UID, a.App.ResourceVersion, a.App.Generation = "team-a", "pi", "uid-of-pi", "17", 1
	a.App.Spec.RuntimeVersions.SparkVersion = "4.1.4"
	return a
}

// Named returns Pi with another name.
func Named(name string) *Application {
	a := Pi()
	a.App.Name, a.App.UID = name, types.UID("uid-of-"+name)
	return a
}

// ClockAt returns a clock that is stopped at the time now.
func ClockAt(now time.Time) *clocktesting.FakePassiveClock {
	return clocktesting.NewFakePassiveClock(now)
}

// Version sets the resourceVersion.
func (a *Application) Version(resourceVersion string) *Application {
	a.App.ResourceVersion = resourceVersion
	return a
}

// UID sets the UID.
func (a *Application) UID(uid types.UID) *Application {
	a.App.UID = uid
	return a
}

// In sets a record with some transitions. The last one began a state at the start.
func (a *Application) In(state lifecycle.State, sequence, acknowledged int64) *Application {
	record := &v1alpha1.Record{Sequence: sequence, Acknowledged: acknowledged}
	for n := int64(1); n <= sequence; n++ {
		record.Transitions = append(record.Transitions, v1alpha1.Transition{
			Sequence: n, Time: metav1.NewMicroTime(Start), State: string(lifecycle.DriverRequested),
		})
	}
	record.Transitions[sequence-1].State = string(state)
	apache.Project(&a.App.Status, record)
	apache.SetConditions(&a.App, record, dialect.Facts{Now: Start})
	return a
}

// Obj returns the application.
func (a *Application) Obj() *sparkv1.SparkApplication { return a.App.DeepCopy() }

// Driver builds a driver Pod of the application pi.
type Driver struct{ Pod corev1.Pod }

// DriverOf returns a running driver Pod of Pi, of a launch.
func DriverOf(launch string, uid types.UID) *Driver {
	d := &Driver{}
	d.Pod.Namespace, d.Pod.Name, d.Pod.UID = "team-a", "pi-0-driver", uid
	d.Pod.Labels = map[string]string{dialect.LabelLaunch: launch}
	d.Pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(Pi().Obj(), sparkv1.SchemeGroupVersion.WithKind("SparkApplication"))}
	d.Pod.Status.Phase = corev1.PodRunning
	return d
}

// Ended makes the driver fail.
func (d *Driver) Ended() *Driver {
	d.Pod.Status.Phase = corev1.PodFailed
	return d
}

// Exited makes the driver's only container end, and the Pod stay as it is, as with a sidecar.
func (d *Driver) Exited() *Driver {
	d.Pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: "spark-kubernetes-driver", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}},
	}}
	return d
}

// Going makes the driver terminate.
func (d *Driver) Going() *Driver {
	d.Pod.DeletionTimestamp = &metav1.Time{Time: Start}
	return d
}

// Unremoved makes the driver terminate without grace: its deletion was interrupted.
func (d *Driver) Unremoved() *Driver {
	d.Going().Pod.DeletionGracePeriodSeconds = new(int64)
	return d
}

// Obj returns the driver Pod.
func (d *Driver) Obj() *corev1.Pod { return d.Pod.DeepCopy() }

// Labelled sets the labels that the informer selects by.
func (d *Driver) Labelled() *Driver {
	d.Pod.Labels["spark-role"], d.Pod.Labels[apache.LabelOperator] = "driver", apache.OperatorName
	return d
}

// Gone makes the driver look as the API server stores it just before its removal.
func (d *Driver) Gone() *Driver {
	now := int64(0)
	d.Going().Pod.DeletionGracePeriodSeconds = &now
	return d
}

// Grace sets the grace period of its deletion, in seconds.
func (d *Driver) Grace(seconds int64) *Driver {
	d.Pod.DeletionGracePeriodSeconds = &seconds
	return d
}

// Finalizer adds a finalizer of another controller.
func (d *Driver) Finalizer() *Driver {
	d.Pod.Finalizers = []string{"example.com/held"}
	return d
}
