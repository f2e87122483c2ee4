package apache

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/outbox"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// DriverLabels returns the selector of the driver Pods of an application, whatever the name of the operator that created
// them.
func DriverLabels(app *sparkv1.SparkApplication) string {
	return "spark-role=driver," + LabelApplication + "=" + applicationLabel(app)
}

// PickDriver finds the driver of an inherited record's attempt among the driver Pods of an application. The others must be
// gone before the application continues: only one driver may run at a time.
func PickDriver(app *sparkv1.SparkApplication, record *v1alpha1.Record, pods []corev1.Pod) (driver *corev1.Pod, others []corev1.Pod) {
	others = slices.Clone(pods)
	slices.SortStableFunc(others, func(a, b corev1.Pod) int { return cmp.Compare(claim(app, record, &b), claim(app, record, &a)) })
	if len(others) == 0 || claim(app, record, &others[0]) == 0 {
		return nil, others
	}
	return &others[0], others[1:]
}

// claim returns how likely a Pod is the driver of the current attempt; 0 means that it is not.
func claim(app *sparkv1.SparkApplication, record *v1alpha1.Record, pod *corev1.Pod) int {
	launched := !lifecycle.CurrentState(record).Initializing()
	unwritten := record.Acknowledged == 0 // no operator wrote a status: the Pod may belong to any attempt
	lives := pod.DeletionTimestamp == nil && !lifecycle.PodEnded(pod)
	switch {
	case !launched && pod.DeletionTimestamp != nil:
		return 0 // an attempt that has not begun needs a Pod that stays
	case !launched && !unwritten && !ofAttempt(app, record, pod):
		return 0 // it belongs to an earlier attempt
	case launched && ofAttempt(app, record, pod):
		return 3
	case lives:
		return 2
	default:
		return 1
	}
}

// ofAttempt reports whether a Pod was created for the current attempt. If the user gave all attempts one ID, the age of the
// Pod decides.
func ofAttempt(app *sparkv1.SparkApplication, record *v1alpha1.Record, pod *corev1.Pod) bool {
	if app.Spec.SparkConf["spark.app.id"] != "" {
		return !pod.CreationTimestamp.Time.Before(record.Attempt.Since.Truncate(time.Second))
	}
	return pod.Labels[submission.LabelApplicationID] == Names(app, record.Attempt.ID).AppID
}

// Adopt adds the launch to an inherited record. If the status does not show that a driver exists, Adopt records it. A launch
// without a driver counts as released.
func Adopt(
	app *sparkv1.SparkApplication, defaults Defaults, record *v1alpha1.Record, driver *corev1.Pod,
) (*v1alpha1.Record, error) {
	initializing := lifecycle.CurrentState(record).Initializing()
	if driver == nil && initializing {
		return record, nil
	}
	SpecOf(app).Note(record)
	names := Names(app, record.Attempt.ID)
	record.Launch = &v1alpha1.Launch{
		ApplicationID: names.AppID, Released: driver == nil,
		DriverPod: cmp.Or(property(app, defaults, "spark.kubernetes.driver.pod.name"), names.DriverPod),
	}
	if driver != nil {
		record.Launch.DriverPod, record.Launch.DriverUID = driver.Name, driver.UID
		record.Launch.ApplicationID = cmp.Or(driver.Labels[submission.LabelApplicationID], names.AppID)
	}
	addLaunch(record)
	if initializing {
		requested := driver.CreationTimestamp.Time
		if since := outbox.Current(record).Time.Time; requested.Before(since) {
			requested = since
		}
		record, _ = lifecycle.Decide(record, Policy(app, defaults), lifecycle.Observation{Launched: driver.UID}, requested)
	}
	return record, nil
}

// addLaunch adds the launch to the transitions that followed from it.
func addLaunch(record *v1alpha1.Record) {
	for i := range record.Transitions {
		if t := &record.Transitions[i]; t.Attempt == record.Attempt.ID && !lifecycle.State(t.State).Initializing() {
			t.DriverPod, t.ApplicationID = record.Launch.DriverPod, record.Launch.ApplicationID
		}
	}
}
