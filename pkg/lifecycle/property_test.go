package lifecycle_test

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	. "github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/outbox"
)

const (
	// seedVariable sets the one sequence to replay. A failure prints its seed.
	seedVariable = "FIRESTEEL_SEED"
	// stepsVariable sets the minimum number of steps of TestRandomSimulation.
	stepsVariable = "FIRESTEEL_STEPS"
)

// TestRandomSimulation runs thousands of applications in simulations where anything may fail at any time. Then it
// lets each simulation settle. simulation_invariants_test.go checks each step; this test checks that every
// application ends.
func TestRandomSimulation(t *testing.T) {
	const shards = 2
	first, simulations := seedRange(t, 2000)
	wanted := envNumber(t, stepsVariable)
	met := [shards]map[string]int{}
	var taken, lived atomic.Int64
	t.Run("simulations", func(t *testing.T) {
		for shard := range shards {
			met[shard] = map[string]int{}
			t.Run(fmt.Sprintf("shard %d", shard), func(t *testing.T) {
				t.Parallel()
				for i := int64(shard); i < simulations || taken.Load() < wanted; i += shards {
					w := newSimulation(t, first+i)
					w.run()
					for thing := range w.covered {
						met[shard][thing]++
					}
					lived.Add(1)
					report(t, taken.Add(w.steps), w.steps, wanted)
				}
			})
		}
	})
	t.Logf("%d simulations, %d steps", lived.Load(), taken.Load())
	for _, thing := range expectedCoverage() {
		count := 0
		for _, shard := range met {
			count += shard[thing]
		}
		t.Logf("%s: in %d simulations", thing, count)
		if count == 0 && !t.Failed() && simulations >= 2000 {
			t.Errorf("of %d simulations, none ran into %s", simulations, thing)
		}
	}
}

// report logs each twentieth of the requested steps.
func report(t *testing.T, taken, last, wanted int64) {
	if part := wanted / 20; part > 0 && taken-last < wanted && taken/part != (taken-last)/part {
		t.Logf("%d of %d steps", taken, wanted)
	}
}

// seedRange returns the first seed and the number of sequences: different seeds each time, or the one to replay.
func seedRange(t *testing.T, n int64) (first, count int64) {
	t.Helper()
	if seed := envNumber(t, seedVariable); seed != 0 {
		return seed, 1
	}
	if testing.Short() {
		n /= 10
	}
	first = time.Now().UnixNano()
	t.Logf("seeds from %d on; replay one with %s=<seed>", first, seedVariable)
	return first, n
}

// envNumber returns the value of a variable; 0 if it is not set.
func envNumber(t *testing.T, variable string) int64 {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return 0
	}
	value, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// expectedCoverage lists what the simulations together must run into, so that the invariants are really tested.
func expectedCoverage() []string {
	things := []string{
		"a large record", "outcome Succeeded", "outcome Failed", "outcome Deleted",
		"effect Launch", "effect Release", "effect ForceRelease", "awaits restart", "awaits ttl",
		"held Suspended", "held DriverTerminating", "held EventsUndelivered",
		"a node that is lost", "a stop", "a deadline that is over", "a deletion that a Pod does not hold for ever", "obstacle DriverPodTerminating",
		"obstacle Unschedulable", "obstacle PodNotReadyToStartContainers", "obstacle NoExecutors",
		"executors that were ready and lost during a start", "unknown fields",
		"a driver that its sidecar held up", "a driver that is refused with its sidecar",
	}
	for _, state := range States {
		things = append(things, "state "+string(state))
	}
	slices.Sort(things)
	return things
}

// run lets anything happen for a while, and then settles.
func (w *simulation) run() {
	w.t.Helper()
	most := 20 + w.rng.Intn(80)
	if w.manyAttempts {
		most *= 2
	}
	if w.changingExecutors {
		most *= 4
	}
	for range most {
		w.step()
		if w.ended() && w.oneIn(8) {
			break
		}
	}
	w.settle()
}

func (w *simulation) step() {
	w.t.Helper()
	w.steps++
	if w.manyAttempts && !w.oneIn(20) {
		w.advanceAll()
		if w.interrupts && w.oneIn(40) {
			w.edit()
		}
		return
	}
	switch w.rng.Intn(16) {
	case 0, 1, 2, 3, 4:
		w.reconcile()
	case 5, 6:
		w.sync()
	case 7, 8, 9:
		w.kubelet()
	case 10:
		w.passTime()
	case 11, 12:
		w.handle()
	case 13:
		w.acknowledge()
	case 14:
		w.disturbPod()
	case 15:
		w.edit()
	}
}

// advanceAll advances everything by one step.
func (w *simulation) advanceAll() {
	w.kubelet()
	w.sync()
	w.reconcile()
	w.handle()
	if due := w.last.RequeueAt; due.After(w.now) && w.oneIn(8) {
		w.now = due
	}
}

func (w *simulation) passTime() {
	step := pick(w, time.Millisecond, time.Second, 10*time.Second, 10*time.Second, 5*time.Minute)
	if due := w.last.RequeueAt; due.After(w.now) && w.oneIn(2) {
		step = due.Sub(w.now)
	}
	w.now = w.now.Add(step)
}

// handle lets a handler answer: the built-in one, a user's own, or a wrong one.
func (w *simulation) handle() {
	if w.stored == nil {
		return
	}
	due := metav1.NewMicroTime(w.now.Add(time.Minute))
	switch verdict, judged := Judge(w.stored, w.policy); {
	case w.oneIn(100):
		w.logf("a verdict on any attempt")
		attempt := w.stored.Attempt.ID + int64(w.rng.Intn(3)) - 1
		w.stored.Verdict = &v1alpha1.Verdict{Attempt: attempt, Restart: w.oneIn(2), NotBefore: &due}
	case judged && w.oneIn(8):
		w.logf("a verdict of the user's")
		w.stored.Verdict = &v1alpha1.Verdict{Attempt: w.stored.Attempt.ID, Restart: w.oneIn(2), Reason: w.text()[:9]}
	case judged:
		w.logf("verdict %v", verdict.Restart)
		w.stored.Verdict = &verdict
	case w.last.Awaits == AwaitsDeletion && w.deleted.IsZero():
		w.deleted = w.now
	}
}

// acknowledge lets the sink take some of the pending transitions.
func (w *simulation) acknowledge() {
	if w.stored == nil || w.sinkDown {
		return
	}
	pending := w.stored.Sequence - w.stored.Acknowledged
	w.stored.Acknowledged += w.rng.Int63n(pending + 1)
}

// disturbPod does what a user, a node or another controller may do to a Pod.
func (w *simulation) disturbPod() {
	if len(w.pods) == 0 {
		return
	}
	pod := pick(w, w.pods...)
	switch w.rng.Intn(9) {
	case 7:
		w.logf("%s gets a finalizer", pod.UID)
		if pod.DeletionTimestamp == nil {
			pod.Finalizers = []string{"example.org/held"}
		}
	case 8:
		w.removeFinalizers(pod)
	case 0:
		w.deletePod(pod)
	case 4:
		w.changeExecutors(pod)
	case 5:
		if pod.lost {
			w.taintNode(pod)
		}
	case 1:
		w.logf("%s is removed by force", pod.UID)
		w.removePod(pod)
	case 2:
		w.logf("%s is lost", pod.UID)
		pod.lost = true
	case 3:
		w.restoreNode(pod)
	case 6:
		if pod.Status.Reason == "" && pod.alive() {
			w.logf("%s is lost, and known to be", pod.UID)
			pod.lost, pod.Status.Reason = true, "NodeLost"
		}
	}
}

// removeFinalizers takes the finalizer off a Pod.
func (w *simulation) removeFinalizers(pod *simPod) {
	pod.Finalizers = nil
	if pod.DeletionTimestamp != nil && *pod.DeletionGracePeriodSeconds == 0 {
		w.removePod(pod)
	}
}

// restoreNode brings the node of a Pod back.
func (w *simulation) restoreNode(pod *simPod) {
	pod.lost = false
	if pod.Status.Reason == "NodeLost" {
		pod.Status.Reason = ""
	}
}

// taintNode deletes a Pod whose node is lost.
func (w *simulation) taintNode(pod *simPod) {
	pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{
		Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "DeletionByTaintManager", Message: w.text(),
	})
	w.deletePod(pod)
}

// edit changes the application as a user may.
func (w *simulation) edit() {
	switch {
	case w.interrupts && w.oneIn(3):
		w.policy.Spec = hashed(hashOf(w.policy.Spec) + "'")
		w.logf("the spec is edited: %s", hashOf(w.policy.Spec))
	case w.oneIn(4) && w.deleted.IsZero():
		w.logf("the application is deleted")
		w.deleted = w.now
	case w.oneIn(3):
		main, before := w.policy.MainContainer, w.policy.Spec
		w.policy = w.anyPolicy()
		w.policy.MainContainer = main // is not edited on the way
		if w.oneIn(2) {
			w.policy.Spec = before // nothing that matters is edited
		}
		w.logf("the spec is edited: %s", hashOf(w.policy.Spec))
	case w.oneIn(6):
		w.policy.Stop = pick(w, nil, StoppedCause(w.text()))
		w.logf("stop is %v", w.policy.Stop != nil)
	case w.oneIn(2):
		w.policy.Suspend = !w.policy.Suspend
		w.logf("suspend is %v", w.policy.Suspend)
	default:
		w.sinkDown = !w.sinkDown
	}
}

// settle lets everything complete, and checks that the application ends.
func (w *simulation) settle() {
	w.t.Helper()
	w.logf("calm")
	w.reliable, w.policy.Suspend, w.sinkDown = true, false, false
	// Some applications restart for ever: allow a few more restarts.
	w.policy.Restart.ResetAfter, w.policy.Restart.MaxAttempts = -1, min(w.policy.Restart.MaxAttempts, 5)
	for range 500 {
		w.steps++
		w.settlePods()
		w.sync()
		w.reconcile()
		if w.ended() {
			w.checkSpec()
			return
		}
		w.handle()
		w.stored.Acknowledged = w.stored.Sequence
		w.now = w.now.Add(time.Second)
		if due := w.last.RequeueAt; due.After(w.now) {
			w.now = due
		}
	}
	w.fail("the application does not come to its end")
}

func (w *simulation) settlePods() {
	for _, pod := range append([]*simPod(nil), w.pods...) {
		if !w.deleted.IsZero() && w.policy.Timeouts.Deletion > 0 && pod.DeletionTimestamp != nil && (pod.lost || len(pod.Finalizers) > 0) {
			w.cover("a deletion that a Pod does not hold for ever")
			continue // it is never removed
		}
		if pod.lost && w.policy.Timeouts.ForceTermination > 0 { // its node never comes back
			w.removeFinalizers(pod)
			w.taintNode(pod)
			continue
		}
		w.restoreNode(pod)
		if len(pod.Finalizers) > 0 {
			w.removeFinalizers(pod)
			continue
		}
		if pod.DeletionTimestamp != nil {
			w.removePod(pod)
			continue
		}
		w.advancePod(pod)
	}
}

// ended reports whether nothing can happen any more.
func (w *simulation) ended() bool {
	if w.stored == nil {
		return false
	}
	state := State(outbox.Current(w.stored).State)
	idle := w.last.Effect == NoEffect && w.last.RequeueAt.IsZero() && w.last.Awaits == AwaitsNothing && w.last.Held == ""
	return state.Terminated() && idle
}
