package application

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/kube"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/executors"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/view"
	"github.com/firesteel-dev/firesteel/pkg/submission"
	"github.com/firesteel-dev/firesteel/pkg/usage"
)

// countUsage counts what the Pods of an application used until now, in a record that is about to be written for another reason. The
// transitions that are new in it get what was used until they began.
func (r *Reconciler) countUsage(v *view.Application, record *v1alpha1.Record) {
	now := r.clock.Now()
	record.Usage = usage.Begin(record.Usage, record.Attempt.ID, record.Launch, func() time.Time { return r.countedSince(v, record.Launch, now) })
	if record.Usage == nil {
		return
	}
	untilDriverEnd := map[int64]v1alpha1.Usage{}
	for i, attempt := range record.Usage.Attempts {
		pod, seen := r.observeUsage(v, record, attempt)
		untilDriverEnd[attempt.Attempt] = usage.Sum(usage.Count(attempt, seen, driverEnd(pod, v.Policy.MainContainer, now)))
		usage.Update(record.Usage, i, usage.Count(attempt, seen, now))
	}
	var stored int64
	if before := v.App.GetRecord(); before != nil {
		stored = before.Sequence
	}
	for i := range record.Transitions {
		t := &record.Transitions[i]
		switch used, known := untilDriverEnd[t.Attempt]; {
		case t.Sequence <= stored:
		case t.Final():
			t.Usage = record.Usage.Total.DeepCopy()
		case t.End != nil && known:
			t.Usage = used.DeepCopy()
		}
	}
}

// countedSince returns since when the Pods of a launch are counted: since its driver was scheduled, if another process launched it.
func (r *Reconciler) countedSince(v *view.Application, launch *v1alpha1.Launch, now time.Time) time.Time {
	if !r.expectations.CreatedAt(launch.DriverUID).IsZero() {
		return now
	}
	pod, _ := r.usageDriver(v, v1alpha1.AttemptUsage{DriverPod: launch.DriverPod, DriverUID: launch.DriverUID}, launch)
	if pod == nil {
		return now
	}
	if scheduled := usage.Of(pod).Scheduled; scheduled != 0 && scheduled < now.Unix() {
		return time.Unix(scheduled, 0)
	}
	return now
}

// observeUsage returns what is known of the Pods of an attempt, and its driver Pod; nil if that is not known.
func (r *Reconciler) observeUsage(
	v *view.Application, record *v1alpha1.Record, attempt v1alpha1.AttemptUsage,
) (*corev1.Pod, usage.Observed) {
	var seen usage.Observed
	pod, gone := r.usageDriver(v, attempt, record.Launch)
	if pod != nil {
		driver := usage.Of(pod)
		seen.Driver = &driver
	}
	seen.DriverGone = gone
	seen.ExecutorsKnown = r.executorsSynced()
	seen.Executors, seen.Since = r.executorUsage.Of(v.App.GetNamespace(), attempt)
	seen.Dynamic = func() bool {
		plan, err := v.Dialect.Plan(v.App, record.Attempt)
		return err != nil || submission.DynamicAllocation(func(key string) string { return plan.Properties[key] })
	}
	return pod, seen
}

// usageDriver returns the driver Pod of an attempt as it was last seen, and whether it is gone. It reads the caches only: what they do not
// show is not known, unless the launch is released.
func (r *Reconciler) usageDriver(v *view.Application, attempt v1alpha1.AttemptUsage, launch *v1alpha1.Launch) (*corev1.Pod, bool) {
	last, gone := r.expectations.Deleted(attempt.DriverUID)
	if gone {
		return last, true
	}
	if pod := r.drivers.Get(v.App.GetNamespace(), attempt.DriverPod); pod != nil && pod.UID == attempt.DriverUID {
		return pod, false
	}
	if pod := r.relabelledDrivers.Watched(kube.KeyOf(v.App), attempt.DriverUID); pod != nil {
		return pod, false
	}
	released := launch == nil || launch.DriverUID != attempt.DriverUID || launch.Released
	return last, released
}

// driverEnd returns until when the Pods of an attempt count that ends: until the end of its driver, or until now if that is not known.
func driverEnd(pod *corev1.Pod, mainContainer string, now time.Time) time.Time {
	if pod == nil {
		return now
	}
	ended := usage.ContainerFinished(pod, lifecycle.DriverContainer(&pod.Status, mainContainer))
	if ended == 0 {
		ended = usage.Of(pod).Ended
	}
	if ended == 0 || ended > now.Unix() {
		return now
	}
	return time.Unix(ended, 0)
}

// forgetUsage forgets the executors that an application counts no more; after is the application that follows, or nil.
func (r *Reconciler) forgetUsage(before, after dialect.Application) {
	earlier := recordedUsage(before)
	if after == nil {
		r.executorUsage.Forget(before.GetNamespace(), earlier)
		return
	}
	r.executorUsage.ForgetCounted(after.GetNamespace(), recordedUsage(after))
	if isOver(after) {
		r.executorUsage.ForgetOfEnded(after.GetNamespace(), recordedUsage(after))
	}
	if earlier == nil {
		return
	}
	var dropped v1alpha1.ApplicationUsage
	for _, attempt := range earlier.Attempts {
		if !slices.Contains(countedIDs(after), executors.ApplicationID{Namespace: after.GetNamespace(), ID: attempt.ApplicationID}.String()) {
			dropped.Attempts = append(dropped.Attempts, attempt)
		}
	}
	r.executorUsage.Forget(before.GetNamespace(), &dropped)
}

func recordedUsage(app dialect.Application) *v1alpha1.ApplicationUsage {
	if app.GetRecord() == nil {
		return nil
	}
	return app.GetRecord().Usage
}
