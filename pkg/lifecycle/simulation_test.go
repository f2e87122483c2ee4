package lifecycle_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	. "github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/outbox/unknowntest"
)

// simulation is one application with an API server, a kubelet, users, handlers and a sink, none of them reliable. Its
// reconciler does what Decide returns: it persists the record, carries out the effect, and decides again.
type simulation struct {
	t    *testing.T
	seed int64
	rng  *rand.Rand
	// reliable makes everything work at once.
	reliable bool

	now     time.Time
	policy  Policy
	deleted time.Time
	// interrupts makes the API interrupt and have the state Unknown.
	interrupts bool
	// oneName makes the driver Pods of all attempts have the same name.
	oneName bool
	// sinkDown makes the sink take nothing.
	sinkDown bool
	// manyAttempts makes attempts frequent. wordy makes all texts and names long. restless makes executors start and
	// stop.
	manyAttempts, longTexts, changingExecutors bool
	// newer makes a newer version of Firesteel write the record as well, with fields of its own.
	newer bool

	// stored is the record in the API server. history has all transitions that it ever had.
	stored  *v1alpha1.Record
	history []v1alpha1.Transition
	// pods are the Pods in the API server, and cache the informer's copy. departed are the deleted Pods, in their
	// last known state.
	pods        []*simPod
	cache       map[types.UID]*corev1.Pod
	deletedPods map[types.UID]*corev1.Pod
	created     int
	last        Decision
	log         []string
	covered     map[string]bool
	// steps counts the steps.
	steps int64
}

// simPod is a driver Pod in the API server.
type simPod struct {
	*corev1.Pod
	launch string
	// lost: the Pod's node does not answer. stuck: it never becomes ready. starved: it never gets enough executors.
	lost, stuck, starved bool
	// heldUp: its sidecar for event logs does not start.
	heldUp bool
	// interrupted reports whether a deletion of it was interrupted once.
	interrupted bool
	// deleted is when its deletion was accepted.
	deleted time.Time
	// executors is the number of its ready executors.
	executors int
}

const (
	mainName    = "spark-kubernetes-driver"
	sidecarName = "sidecar"
)

func newSimulation(t *testing.T, seed int64) *simulation {
	w := &simulation{
		t: t, seed: seed, rng: rand.New(rand.NewSource(seed)), now: start,
		cache: map[types.UID]*corev1.Pod{}, deletedPods: map[types.UID]*corev1.Pod{}, covered: map[string]bool{},
	}
	w.interrupts = w.oneIn(2)
	w.oneName, w.sinkDown, w.manyAttempts, w.longTexts, w.changingExecutors = w.oneIn(2), w.oneIn(3), w.oneIn(2), w.oneIn(3), w.oneIn(6)
	w.newer = w.oneIn(4)
	w.policy = w.anyPolicy()
	return w
}

// ---- Chance ----

// oneIn is true once in n times, and never in a reliable simulation.
func (w *simulation) oneIn(n int) bool { return !w.reliable && w.rng.Intn(n) == 0 }

func pick[T any](w *simulation, choices ...T) T { return choices[w.rng.Intn(len(choices))] }

func (w *simulation) anyPolicy() Policy {
	limit := func() *int64 { return pick(w, nil, nil, new(int64), ptrTo[int64](1), ptrTo[int64](2)) }
	wait := func() *time.Duration { return pick(w, nil, nil, new(time.Duration), ptrTo(time.Minute)) }
	policy := Policy{
		Restart: Restart{
			Policy:              pick(w, RestartNever, RestartAlways, RestartAlways, RestartOnFailure, RestartOnInfrastructureFailure),
			MaxAttempts:         int64(w.rng.Intn(6)),
			Backoff:             pick(w, 0, 0, time.Second, time.Minute),
			ResetAfter:          pick(w, -1, -1, 0, time.Minute),
			OnFailure:           Limit{MaxAttempts: limit(), Backoff: wait()},
			OnSchedulingFailure: Limit{MaxAttempts: limit(), Backoff: wait()},
		},
		Timeouts: Timeouts{
			DriverStart:      pick(w, 0, time.Minute, 5*time.Minute),
			DriverReady:      pick(w, 0, time.Minute, 5*time.Minute),
			ExecutorStart:    pick(w, -1, time.Minute),
			ForceTermination: pick(w, 0, time.Second, 5*time.Minute),
			Deletion:         pick(w, 0, time.Second, time.Minute),
		},
		Executors: Executors{
			Init: pick(w, 0, 0, 1, 3), Min: pick(w, 0, 1, 3), Max: pick(w, 0, 3, 6), Dynamic: w.oneIn(3),
		},
		ReportNoExecutorsAfter: pick(w, 0, 0, 10*time.Second),
		ActiveDeadline:         pick(w, 0, 0, 0, 30*time.Second, time.Minute, 10*time.Minute),

		Retain:            pick(w, RetainNever, RetainNever, RetainOnFailure, RetainAlways),
		RetainFor:         pick(w, -1, 0, time.Minute),
		TTL:               pick(w, -1, -1, 0, time.Minute, time.Hour),
		MainContainer:     pick(w, "", mainName),
		Suspend:           w.oneIn(10),
		Interrupts:        w.interrupts,
		PersistsEachState: w.interrupts,
		HasUnknown:        w.interrupts,

		ExecutorsFromStart: w.interrupts,
		ReleasesTimedOut:   w.interrupts,
	}
	policy.Restart.Linear, policy.Restart.CountsApart = w.oneIn(2), w.oneIn(2)
	if w.interrupts {
		policy.Spec = hashed(fmt.Sprintf("spec-%d", w.rng.Intn(3)))
	}
	if w.manyAttempts && w.oneIn(2) {
		policy.Restart = Restart{Policy: RestartAlways, MaxAttempts: 50, ResetAfter: -1}
	}
	if w.changingExecutors {
		policy.Executors = Executors{Init: 1, Min: 3, Max: 6}
	}
	if w.oneIn(40) {
		policy.Stop = StoppedCause(w.text())
	}
	if w.oneIn(40) {
		policy.Refused = &Cause{Class: ClassApplication, Reason: "Unsupported", Message: "not this"}
	}
	return policy
}

func ptrTo[T any](value T) *T { return &value }

func (w *simulation) text() string {
	if !w.longTexts {
		return "some text"
	}
	text := badTexts[pick(w, slices.Sorted(maps.Keys(badTexts))...)]
	return text[:min(len(text), 2000)]
}

// ---- Log ----

func (w *simulation) logf(format string, args ...any) {
	w.log = append(w.log, fmt.Sprintf("%s %s", w.now.Sub(start), fmt.Sprintf(format, args...)))
}

// cover records what the simulation ran into.
func (w *simulation) cover(things ...string) {
	for _, thing := range things {
		w.covered[thing] = true
	}
}

func (w *simulation) fail(format string, args ...any) {
	w.t.Helper()
	w.t.Fatalf("seed %d: %s\npolicy: %+v\n%s\nhistory:\n%s", w.seed, fmt.Sprintf(format, args...), w.policy,
		strings.Join(w.log, "\n"), strings.Join(describe(w.history), "\n"))
}

// ---- The API server ----

// persist stores a record, and checks what must hold for each stored record.
func (w *simulation) persist(record *v1alpha1.Record) {
	w.t.Helper()
	stored := record
	if w.rng.Intn(4) == 0 {
		stored = w.encode(record)
	}
	if w.newer {
		stored = stored.DeepCopy()
		unknowntest.Fill(stored)
		w.cover("unknown fields")
	}
	w.checkHistory(stored)
	w.stored = stored
	w.checkEnd()
}

// encode converts a record to JSON and back.
func (w *simulation) encode(record *v1alpha1.Record) *v1alpha1.Record {
	w.t.Helper()
	encoded, err := json.Marshal(record)
	if err != nil {
		w.fail("record: %v", err)
	}
	if len(encoded) > maxRecord {
		w.fail("the record takes %d bytes", len(encoded))
	}
	if len(encoded) > maxRecord/4 {
		w.cover("a large record")
	}
	stored := &v1alpha1.Record{}
	if err := json.Unmarshal(encoded, stored); err != nil {
		w.fail("record: %v", err)
	}
	return stored
}

// deletePod accepts a Pod's deletion. A Pod that was never scheduled is removed at once.
func (w *simulation) deletePod(pod *simPod) {
	if pod.DeletionTimestamp == nil {
		grace := pick(w, int64(30), 30, 1, 3600, 1<<62)
		due := metav1.NewTime(w.now.Add(time.Duration(grace) * time.Second)) // which may overflow, as it does in an API server
		pod.deleted, pod.DeletionTimestamp, pod.DeletionGracePeriodSeconds = w.now, &due, &grace
		w.logf("deletion of %s", pod.UID)
	}
	if len(pod.Status.ContainerStatuses) == 0 && pod.Status.Phase == corev1.PodPending {
		w.removePod(pod)
	}
}

// removePod removes a Pod and its containers, unless a finalizer keeps it.
func (w *simulation) removePod(pod *simPod) {
	interrupted := !pod.interrupted && w.oneIn(10)
	if len(pod.Finalizers) > 0 || interrupted {
		now := metav1.NewTime(w.now)
		if pod.DeletionTimestamp == nil {
			pod.deleted = w.now
		}
		pod.DeletionTimestamp, pod.DeletionGracePeriodSeconds = &now, new(int64)
		pod.interrupted = pod.interrupted || interrupted
		w.logf("%s is kept by a finalizer, or its deletion is interrupted", pod.UID)
		return
	}
	w.pods = slices.DeleteFunc(w.pods, func(other *simPod) bool { return other == pod })
	w.logf("%s is gone", pod.UID)
}

// sync updates the informer's cache.
func (w *simulation) sync() {
	there := map[types.UID]*corev1.Pod{}
	for _, pod := range w.pods {
		there[pod.UID] = pod.DeepCopy()
	}
	for uid, pod := range w.cache {
		if there[uid] == nil {
			w.deletedPods[uid] = pod
		}
	}
	w.cache = there
}
