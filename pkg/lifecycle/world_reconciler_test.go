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
func (w *world) reconcile() {
	w.t.Helper()
	seen := w.observe()
	for range 8 {
		record, decision := w.decide(seen)
		if decision.Changed || w.stored == nil {
			if w.one(20) {
				w.note("conflict")
				return
			}
			w.persist(record)
			if w.one(20) {
				w.note("crash before %q", decision.Effect)
				return
			}
		}
		if decision.Effect == NoEffect {
			w.last = decision
			return
		}
		outcome, done := w.carryOut(decision.Effect, decision.Seen)
		if !done {
			return
		}
		seen = outcome
	}
	w.fail("no end of effects")
}

// observe is what an informer knows, late as it may be, and what a live GET finds.
func (w *world) observe() Observation {
	seen := Observation{Deleted: w.deleted}
	if w.stored == nil || w.stored.Launch == nil {
		return seen
	}
	launch := w.stored.Launch
	if pod := w.podOf(launch); pod != nil {
		seen.ReadyExecutors = pod.executors
		seen.Alone = pod.executors == 0
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
	if last, known := w.departed[launch.DriverUID]; known {
		seen.DriverGone = true
		if w.one(2) {
			seen.Driver = ObserveDriver(last, w.policy.MainContainer)
		}
		return seen
	}
	if !w.one(2) { // a live GET
		seen.DriverGone = w.podOf(launch) == nil
	}
	return seen
}

func (w *world) podOf(launch *v1alpha1.Launch) *simPod {
	for _, pod := range w.pods {
		if pod.UID == launch.DriverUID || launch.DriverUID == "" && pod.launch == launch.ID {
			return pod
		}
	}
	return nil
}

func (w *world) carryOut(effect Effect, seen Observation) (Observation, bool) {
	if w.one(12) {
		w.note("%s: try again later", effect)
		return seen, false
	}
	switch effect {
	case Persist:
		return seen, true // and is asked with it again
	case Launch:
		return w.launch(seen)
	default:
		return w.release(effect, seen)
	}
}

// launch fences the attempt, then creates its Pod.
func (w *world) launch(seen Observation) (Observation, bool) {
	if state := State(outbox.Current(w.stored).State); !state.Initializing() || !w.deleted.IsZero() {
		w.fail("a launch in %s, deleted %v", state, w.deleted)
	}
	if w.stored.Launch == nil {
		if w.one(12) {
			seen.LaunchRefused = &Cause{Class: ClassScheduling, Reason: "Invalid", Message: w.text()}
			return seen, true
		}
		fenced := w.stored.DeepCopy()
		id := fmt.Sprintf("launch-%d", fenced.Attempt.ID)
		fenced.Launch = &v1alpha1.Launch{ID: id, DriverPod: w.podName(), ApplicationID: w.applicationID()}
		w.persist(fenced)
		if w.one(20) {
			w.note("crash after the fence")
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
			w.note("the name is taken")
			w.awaitName(pod, &seen)
			return seen, true
		}
	}
	refused := w.one(10)
	if refused {
		seen.LaunchRefused = &Cause{Class: ClassScheduling, Reason: "Forbidden", Message: w.text()}
	}
	if refused && w.one(2) {
		return seen, true
	}
	seen.Launched = w.create(launch)
	if w.one(20) {
		w.note("crash after the create")
		return seen, false
	}
	return seen, true
}

// awaitName has a launch wait for an earlier attempt's Pod that is in the way, which is forced if it does not go.
func (w *world) awaitName(pod *simPod, seen *Observation) {
	driver, limit := ObserveDriver(pod.Pod, ""), w.policy.Timeouts.ForceTermination
	seen.LaunchHeld = &Cause{Class: ClassInfrastructure, Reason: "DriverPodTerminating", Message: driver.Remains()}
	if !driver.Terminating || limit <= 0 || driver.Forced {
		return
	}
	if seen.LaunchAgain = driver.ForcedFrom(limit); w.now.Before(seen.LaunchAgain) {
		return
	}
	w.checkForce(pod)
	w.remove(pod)
	seen.LaunchAgain = w.now.Add(time.Second)
}

func (w *world) podName() string {
	name := "pi-driver"
	if !w.oneName {
		name = fmt.Sprintf("pi-%d-driver", w.stored.Attempt.ID)
	}
	if w.wordy {
		name = strings.Repeat("long.", 48) + name // the longest that Kubernetes allows
	}
	return name
}

func (w *world) applicationID() string {
	if w.wordy {
		return strings.Repeat("x", 63) // the longest label
	}
	return "pi"
}

// create creates a driver Pod. There must be none alive.
func (w *world) create(launch *v1alpha1.Launch) types.UID {
	for _, pod := range w.pods {
		if pod.alive() {
			w.fail("a driver of %s is launched beside one of %s that is alive", launch.ID, pod.launch)
		}
	}
	w.created++
	pod := &simPod{launch: launch.ID, stuck: w.one(5), starved: w.one(5), Pod: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name: launch.DriverPod, CreationTimestamp: metav1.NewTime(w.now), UID: types.UID(fmt.Sprintf("pod-%d", w.created)), Labels: map[string]string{"launch": launch.ID},
	}}}
	pod.Status.Phase = corev1.PodPending
	w.pods = append(w.pods, pod)
	w.note("created %s of %s", pod.UID, pod.launch)
	return pod.UID
}

// release deletes the driver's Pod.
func (w *world) release(effect Effect, seen Observation) (Observation, bool) {
	pod := w.podOf(w.stored.Launch)
	switch {
	case pod == nil:
		seen.DriverGone = true
	case effect == ForceRelease:
		w.checkForce(pod)
		w.remove(pod)
		seen.ReleaseAccepted = true
	default:
		w.deletePod(pod)
		seen.ReleaseAccepted = true
	}
	return seen, true
}

// checkForce holds that a driver is forced only after it had its time to go, the Pod's own included.
func (w *world) checkForce(pod *simPod) {
	limit := w.policy.Timeouts.ForceTermination
	switch passed := w.now.Sub(pod.deleted); {
	case limit <= 0, pod.DeletionTimestamp == nil, passed < limit, w.knowsForced(pod):
		w.fail("%s is forced %s after its deletion, with a limit of %s", pod.UID, passed, limit)
	case int64(passed/time.Second) < *pod.DeletionGracePeriodSeconds && passed < 200*year*time.Second:
		w.fail("%s is forced %s after its deletion, with a grace period of %d s", pod.UID, passed, *pod.DeletionGracePeriodSeconds)
	}
}

// knowsForced reports whether the cache has a Pod with nothing left to be forced.
func (w *world) knowsForced(pod *simPod) bool {
	cached := w.cache[pod.UID]
	return cached != nil && ObserveDriver(cached, "").Forced
}
