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
	// seedVariable names the one sequence to replay, whose seed a failure tells.
	seedVariable = "FIRESTEEL_SEED"
	// stepsVariable names the number of steps that TestAnyWorld takes at least.
	stepsVariable = "FIRESTEEL_STEPS"
)

// TestAnyWorld drives thousands of applications through worlds where anything may go wrong at any time, and then lets
// each world come to rest. What must hold of each step is in world_invariants_test.go; here it is that every
// application ends.
func TestAnyWorld(t *testing.T) {
	const shards = 2
	first, worlds := seeds(t, 2000)
	wanted := number(t, stepsVariable)
	met := [shards]map[string]int{}
	var taken, lived atomic.Int64
	t.Run("worlds", func(t *testing.T) {
		for shard := range shards {
			met[shard] = map[string]int{}
			t.Run(fmt.Sprintf("shard %d", shard), func(t *testing.T) {
				t.Parallel()
				for i := int64(shard); i < worlds || taken.Load() < wanted; i += shards {
					w := newWorld(t, first+i)
					w.live()
					for thing := range w.met {
						met[shard][thing]++
					}
					lived.Add(1)
					report(t, taken.Add(w.steps), w.steps, wanted)
				}
			})
		}
	})
	t.Logf("%d worlds, %d steps", lived.Load(), taken.Load())
	for _, thing := range toBeMet() {
		count := 0
		for _, shard := range met {
			count += shard[thing]
		}
		t.Logf("%s: in %d worlds", thing, count)
		if count == 0 && !t.Failed() && worlds >= 2000 {
			t.Errorf("of %d worlds, none came across %s", worlds, thing)
		}
	}
}

// report tells of each twentieth of the steps that were asked for.
func report(t *testing.T, taken, last, wanted int64) {
	if part := wanted / 20; part > 0 && taken-last < wanted && taken/part != (taken-last)/part {
		t.Logf("%d of %d steps", taken, wanted)
	}
}

// seeds are what a test's sequences are made from, the first and their number: others each time, or the one that is to
// be replayed.
func seeds(t *testing.T, n int64) (first, count int64) {
	t.Helper()
	if seed := number(t, seedVariable); seed != 0 {
		return seed, 1
	}
	if testing.Short() {
		n /= 10
	}
	first = time.Now().UnixNano()
	t.Logf("seeds from %d on; replay one with %s=<seed>", first, seedVariable)
	return first, n
}

// number is what a variable says; 0 where it is not set.
func number(t *testing.T, variable string) int64 {
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

// toBeMet is what the worlds together are to come across, lest they hold what they hold of nothing.
func toBeMet() []string {
	things := []string{
		"a large record", "outcome Succeeded", "outcome Failed", "outcome Deleted",
		"effect Launch", "effect Release", "effect ForceRelease", "awaits restart", "awaits ttl",
		"held Suspended", "held DriverTerminating", "held EventsUndelivered",
		"a node that is lost", "a deadline that is over", "a deletion that a Pod does not hold for ever", "obstacle DriverPodTerminating",
		"obstacle Unschedulable", "obstacle PodNotReadyToStartContainers", "obstacle NoExecutors",
		"executors that came and went during a start", "unknown fields",
	}
	for _, state := range States {
		things = append(things, "state "+string(state))
	}
	slices.Sort(things)
	return things
}

// live lets anything happen for a while, and then everything that ought to.
func (w *world) live() {
	w.t.Helper()
	most := 20 + w.rng.Intn(80)
	if w.hasty {
		most *= 2
	}
	if w.restless {
		most *= 4
	}
	for range most {
		w.happen()
		if w.ended() && w.one(8) {
			break
		}
	}
	w.rest()
}

func (w *world) happen() {
	w.t.Helper()
	w.steps++
	if w.hasty && !w.one(20) {
		w.proceed()
		if w.interrupts && w.one(40) {
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
		w.meddle()
	case 15:
		w.edit()
	}
}

// proceed takes everything one step further.
func (w *world) proceed() {
	w.kubelet()
	w.sync()
	w.reconcile()
	w.handle()
	if due := w.last.LookAgain; due.After(w.now) && w.one(8) {
		w.now = due
	}
}

func (w *world) passTime() {
	step := pick(w, time.Millisecond, time.Second, 10*time.Second, 10*time.Second, 5*time.Minute)
	if due := w.last.LookAgain; due.After(w.now) && w.one(2) {
		step = due.Sub(w.now)
	}
	w.now = w.now.Add(step)
}

// handle lets a handler answer: the built-in one, or one of a user's own with a mind of its own, or one that is wrong.
func (w *world) handle() {
	if w.stored == nil {
		return
	}
	due := metav1.NewMicroTime(w.now.Add(time.Minute))
	switch verdict, judged := Judge(w.stored, w.policy); {
	case w.one(100):
		w.note("a verdict on any attempt")
		attempt := w.stored.Attempt.ID + int64(w.rng.Intn(3)) - 1
		w.stored.Verdict = &v1alpha1.Verdict{Attempt: attempt, Restart: w.one(2), NotBefore: &due}
	case judged && w.one(8):
		w.note("a verdict of the user's")
		w.stored.Verdict = &v1alpha1.Verdict{Attempt: w.stored.Attempt.ID, Restart: w.one(2), Reason: w.text()[:9]}
	case judged:
		w.note("verdict %v", verdict.Restart)
		w.stored.Verdict = &verdict
	case w.last.Awaits == AwaitsDeletion && w.deleted.IsZero():
		w.deleted = w.now
	}
}

// acknowledge lets the sink take some of what is told.
func (w *world) acknowledge() {
	if w.stored == nil || w.sinkDown {
		return
	}
	pending := w.stored.Sequence - w.stored.Acknowledged
	w.stored.Acknowledged += w.rng.Int63n(pending + 1)
}

// meddle does to a Pod what a user, a node or another controller may do.
func (w *world) meddle() {
	if len(w.pods) == 0 {
		return
	}
	pod := pick(w, w.pods...)
	switch w.rng.Intn(9) {
	case 7:
		w.note("%s gets a finalizer", pod.UID)
		if pod.DeletionTimestamp == nil {
			pod.Finalizers = []string{"example.org/held"}
		}
	case 8:
		w.letGo(pod)
	case 0:
		w.deletePod(pod)
	case 4:
		w.churn(pod)
	case 5:
		if pod.lost {
			w.taint(pod)
		}
	case 1:
		w.note("%s is removed by force", pod.UID)
		w.remove(pod)
	case 2:
		w.note("%s is lost", pod.UID)
		pod.lost = true
	case 3:
		w.regain(pod)
	case 6:
		if pod.Status.Reason == "" && pod.alive() {
			w.note("%s is lost, and known to be", pod.UID)
			pod.lost, pod.Status.Reason = true, "NodeLost"
		}
	}
}

// letGo takes the finalizer off a Pod.
func (w *world) letGo(pod *simPod) {
	pod.Finalizers = nil
	if pod.DeletionTimestamp != nil && *pod.DeletionGracePeriodSeconds == 0 {
		w.remove(pod)
	}
}

// regain brings the node of a Pod back.
func (w *world) regain(pod *simPod) {
	pod.lost = false
	if pod.Status.Reason == "NodeLost" {
		pod.Status.Reason = ""
	}
}

// taint is the deletion of a Pod whose node is lost.
func (w *world) taint(pod *simPod) {
	pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{
		Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "DeletionByTaintManager", Message: w.text(),
	})
	w.deletePod(pod)
}

// edit is what a user does to the application.
func (w *world) edit() {
	switch {
	case w.interrupts && w.one(3):
		w.policy.Spec = hashed(hashOf(w.policy.Spec) + "'")
		w.note("the spec is edited: %s", hashOf(w.policy.Spec))
	case w.one(4) && w.deleted.IsZero():
		w.note("the application is deleted")
		w.deleted = w.now
	case w.one(3):
		main, before := w.policy.MainContainer, w.policy.Spec
		w.policy = w.anyPolicy()
		w.policy.MainContainer = main // is not edited on the way
		if w.one(2) {
			w.policy.Spec = before // nothing that matters is edited
		}
		w.note("the spec is edited: %s", hashOf(w.policy.Spec))
	case w.one(2):
		w.policy.Suspend = !w.policy.Suspend
		w.note("suspend is %v", w.policy.Suspend)
	default:
		w.sinkDown = !w.sinkDown
	}
}

// rest lets everything happen that ought to, and holds that the application ends.
func (w *world) rest() {
	w.t.Helper()
	w.note("calm")
	w.calm, w.policy.Suspend, w.sinkDown = true, false, false
	// An application may well restart for ever; let it be a few times more.
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
		if due := w.last.LookAgain; due.After(w.now) {
			w.now = due
		}
	}
	w.fail("the application does not come to its end")
}

func (w *world) settlePods() {
	for _, pod := range append([]*simPod(nil), w.pods...) {
		if !w.deleted.IsZero() && w.policy.Timeouts.Deletion > 0 && pod.DeletionTimestamp != nil && (pod.lost || len(pod.Finalizers) > 0) {
			w.meet("a deletion that a Pod does not hold for ever")
			continue // it never goes
		}
		if pod.lost && w.policy.Timeouts.ForceTermination > 0 { // its node never comes back
			w.letGo(pod)
			w.taint(pod)
			continue
		}
		w.regain(pod)
		if len(pod.Finalizers) > 0 {
			w.letGo(pod)
			continue
		}
		if pod.DeletionTimestamp != nil {
			w.remove(pod)
			continue
		}
		w.advance(pod)
	}
}

// ended says that nothing will happen any more.
func (w *world) ended() bool {
	if w.stored == nil {
		return false
	}
	state := State(outbox.Current(w.stored).State)
	idle := w.last.Effect == NoEffect && w.last.LookAgain.IsZero() && w.last.Awaits == AwaitsNothing && w.last.Held == ""
	return state.Terminated() && idle
}
