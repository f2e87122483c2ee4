package lifecycle_test

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	. "github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/outbox"
)

// reconcile does what a reconciler does with one key.
func (w *simulation) reconcile() {
	w.t.Helper()
	seen := w.observe()
	for range 8 {
		record, decision := w.decide(seen)
		if decision.Changed || w.stored == nil {
			if w.oneIn(20) {
				w.logf("conflict")
				return
			}
			w.persist(record)
			if w.oneIn(20) {
				w.logf("crash before %q", decision.Effect)
				return
			}
		}
		if decision.Effect == NoEffect {
			w.last = decision
			return
		}
		outcome, done := w.carryOutEffect(decision.Effect, decision.Seen)
		if !done {
			return
		}
		seen = outcome
	}
	w.fail("no end of effects")
}

// observe returns what an informer knows, possibly late, and what a live GET finds.
func (w *simulation) observe() Observation {
	seen := Observation{Deleted: w.deleted}
	if w.stored == nil || w.stored.Launch == nil {
		return seen
	}
	launch := w.stored.Launch
	if pod := w.podOf(launch); pod != nil {
		seen.ReadyExecutors = pod.executors
		seen.NoExecutorSeen = pod.executors == 0
	}
	for _, pod := range w.cache {
		if pod.Labels["launch"] == launch.ID {
			seen.Driver = ObserveDriver(pod, w.policy.MainContainer)
			return seen
		}
	}
	if launch.DriverUID == "" {
		return seen
	}
	if last, known := w.deletedPods[launch.DriverUID]; known {
		seen.DriverGone = true
		if w.oneIn(2) {
			seen.Driver = ObserveDriver(last, w.policy.MainContainer)
		}
		return seen
	}
	if !w.oneIn(2) { // a live GET
		seen.DriverGone = w.podOf(launch) == nil
	}
	return seen
}

func (w *simulation) podOf(launch *v1alpha1.Launch) *simPod {
	for _, pod := range w.pods {
		if pod.UID == launch.DriverUID || launch.DriverUID == "" && pod.launch == launch.ID {
			return pod
		}
	}
	return nil
}

func (w *simulation) carryOutEffect(effect Effect, seen Observation) (Observation, bool) {
	if w.oneIn(12) {
		w.logf("%s: try again later", effect)
		return seen, false
	}
	switch effect {
	case Persist:
		return seen, true // Decide is called again with it
	case Launch:
		return w.launch(seen)
	default:
		return w.release(effect, seen)
	}
}

// launch fences the attempt, then creates its Pod.
func (w *simulation) launch(seen Observation) (Observation, bool) {
	if state := State(outbox.Current(w.stored).State); !state.Initializing() || !w.deleted.IsZero() {
		w.fail("a launch in %s, deleted %v", state, w.deleted)
	}
	id := fmt.Sprintf("launch-%d", w.stored.Attempt.ID)
	sidecar := w.stored.Attempt.WithoutEventLogs == ""
	if !sidecar {
		id += "-without"
	}
	if w.stored.Launch == nil || w.stored.Launch.ID != id {
		if w.oneIn(12) {
			seen.LaunchRefused = &Cause{Class: ClassScheduling, Reason: "Invalid", Message: w.text()}
			return seen, true
		}
		fenced := w.stored.DeepCopy()
		fenced.Launch = &v1alpha1.Launch{ID: id, DriverPod: w.podName(), ApplicationID: w.applicationID()}
		w.persist(fenced)
		if w.oneIn(20) {
			w.logf("crash after the fence")
			return seen, false
		}
	}
	launch := w.stored.Launch
	for _, pod := range w.pods {
		switch {
		case pod.launch == launch.ID && pod.DeletionTimestamp == nil:
			seen.Launched = pod.UID
			return seen, true
		case pod.Name == launch.DriverPod:
			w.logf("the name is taken")
			w.awaitName(pod, &seen)
			return seen, true
		}
	}
	if sidecar && w.oneIn(12) {
		w.cover("a driver that is refused with its sidecar")
		seen.RefusedWithEventLogs = &Cause{Class: ClassScheduling, Reason: "Forbidden", Message: w.text()}
		return seen, true
	}
	refused := w.oneIn(10)
	if refused {
		seen.LaunchRefused = &Cause{Class: ClassScheduling, Reason: "Forbidden", Message: w.text()}
	}
	if refused && w.oneIn(2) {
		return seen, true
	}
	seen.Launched = w.create(launch)
	if w.oneIn(20) {
		w.logf("crash after the create")
		return seen, false
	}
	return seen, true
}

// awaitName makes a launch wait for an earlier attempt's Pod with the same name, which is deleted by force if it
// stays.
func (w *simulation) awaitName(pod *simPod, seen *Observation) {
	driver, limit := ObserveDriver(pod.Pod, ""), w.policy.Timeouts.ForceTermination
	seen.LaunchHeld = &Cause{Class: ClassInfrastructure, Reason: "DriverPodTerminating", Message: driver.DescribeTerminating()}
	if !driver.Terminating || limit <= 0 || driver.NoGraceLeft {
		return
	}
	if seen.RetryLaunchAt = driver.ForceDeleteAt(limit); w.now.Before(seen.RetryLaunchAt) {
		return
	}
	w.checkForce(pod)
	w.removePod(pod)
	seen.RetryLaunchAt = w.now.Add(time.Second)
}

func (w *simulation) podName() string {
	name := "pi-driver"
	if !w.oneName {
		name = fmt.Sprintf("pi-%d-driver", w.stored.Attempt.ID)
	}
	if w.longTexts {
		name = strings.Repeat("long.", 48) + name // the longest that Kubernetes allows
	}
	return name
}

func (w *simulation) applicationID() string {
	if w.longTexts {
		return strings.Repeat("x", 63) // the longest label
	}
	return "pi"
}

// create creates a driver Pod. No other driver may be alive.
func (w *simulation) create(launch *v1alpha1.Launch) types.UID {
	for _, pod := range w.pods {
		if pod.alive() {
			w.fail("a driver of %s is launched beside one of %s that is alive", launch.ID, pod.launch)
		}
	}
	w.created++
	pod := &simPod{launch: launch.ID, stuck: w.oneIn(5), starved: w.oneIn(5), heldUp: w.stored.Attempt.WithoutEventLogs == "" && w.oneIn(6), Pod: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name: launch.DriverPod, CreationTimestamp: metav1.NewTime(w.now), UID: types.UID(fmt.Sprintf("pod-%d", w.created)), Labels: map[string]string{"launch": launch.ID},
	}}}
	pod.Status.Phase = corev1.PodPending
	w.pods = append(w.pods, pod)
	w.logf("created %s of %s", pod.UID, pod.launch)
	return pod.UID
}

// release deletes the driver's Pod.
func (w *simulation) release(effect Effect, seen Observation) (Observation, bool) {
	pod := w.podOf(w.stored.Launch)
	switch {
	case pod == nil:
		seen.DriverGone = true
	case effect == ForceRelease:
		w.checkForce(pod)
		w.removePod(pod)
		seen.ReleaseAccepted = true
	default:
		w.deletePod(pod)
		seen.ReleaseAccepted = true
	}
	return seen, true
}

// checkForce checks that a driver is deleted by force only after its time, including the Pod's own grace period.
func (w *simulation) checkForce(pod *simPod) {
	limit := w.policy.Timeouts.ForceTermination
	switch passed := w.now.Sub(pod.deleted); {
	case limit <= 0, pod.DeletionTimestamp == nil, passed < limit, w.cachedWithoutGrace(pod):
		w.fail("%s is forced %s after its deletion, with a limit of %s", pod.UID, passed, limit)
	case int64(passed/time.Second) < *pod.DeletionGracePeriodSeconds && passed < 200*year*time.Second:
		w.fail("%s is forced %s after its deletion, with a grace period of %d s", pod.UID, passed, *pod.DeletionGracePeriodSeconds)
	}
}

// cachedWithoutGrace reports whether the cached Pod has no grace period left.
func (w *simulation) cachedWithoutGrace(pod *simPod) bool {
	cached := w.cache[pod.UID]
	return cached != nil && ObserveDriver(cached, "").NoGraceLeft
}
