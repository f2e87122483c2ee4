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

// world is one application among an API server, a kubelet, users, handlers and a sink, none of which can be relied
// on, and a reconciler that does what Decide says: it persists the record, carries out the effect, and asks again.
type world struct {
	t    *testing.T
	seed int64
	rng  *rand.Rand
	// calm is a world in which everything works at once.
	calm bool

	now     time.Time
	policy  Policy
	deleted time.Time
	// interrupts is an API that interrupts, and tells of drivers that are lost.
	interrupts bool
	// oneName is an API whose driver Pods bear the same name in all attempts.
	oneName bool
	// sinkDown is a sink that takes nothing.
	sinkDown bool
	// hasty is a world in which attempts come and go, wordy one in which everything has a long text and a long name,
	// and restless one in which executors come and go.
	hasty, wordy, restless bool
	// newer is a world in which a newer version of Firesteel writes the record, too, with fields of its own.
	newer bool

	// stored is the record as the API server has it, and history all transitions that it ever had.
	stored  *v1alpha1.Record
	history []v1alpha1.Transition
	// pods are the Pods that there are, and cache is what the informer makes of them; departed are those whose
	// deletion it was told, as it last knew them.
	pods     []*simPod
	cache    map[types.UID]*corev1.Pod
	departed map[types.UID]*corev1.Pod
	created  int
	last     Decision
	diary    []string
	met      map[string]bool
	// steps is how often something happened.
	steps int64
}

// simPod is a driver Pod, as the API server has it.
type simPod struct {
	*corev1.Pod
	launch string
	// lost is a Pod whose node does not answer, stuck one that never gets ready, and starved one that never gets enough
	// executors.
	lost, stuck, starved bool
	// interrupted says that a deletion of it was interrupted once.
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

func newWorld(t *testing.T, seed int64) *world {
	w := &world{
		t: t, seed: seed, rng: rand.New(rand.NewSource(seed)), now: start,
		cache: map[types.UID]*corev1.Pod{}, departed: map[types.UID]*corev1.Pod{}, met: map[string]bool{},
	}
	w.interrupts = w.one(2)
	w.oneName, w.sinkDown, w.hasty, w.wordy, w.restless = w.one(2), w.one(3), w.one(2), w.one(3), w.one(6)
	w.newer = w.one(4)
	w.policy = w.anyPolicy()
	return w
}

// ---- Chance ----

// one is true once in n times, and never in a calm world.
func (w *world) one(n int) bool { return !w.calm && w.rng.Intn(n) == 0 }

func pick[T any](w *world, choices ...T) T { return choices[w.rng.Intn(len(choices))] }

func (w *world) anyPolicy() Policy {
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
			Init: pick(w, 0, 0, 1, 3), Min: pick(w, 0, 1, 3), Max: pick(w, 0, 3, 6), Dynamic: w.one(3),
		},
		ExecutorsWithin: pick(w, 0, 0, 10*time.Second),
		ActiveDeadline:  pick(w, 0, 0, 0, 30*time.Second, time.Minute, 10*time.Minute),

		Retain:        pick(w, RetainNever, RetainNever, RetainOnFailure, RetainAlways),
		RetainFor:     pick(w, -1, 0, time.Minute),
		TTL:           pick(w, -1, -1, 0, time.Minute, time.Hour),
		MainContainer: pick(w, "", mainName),
		Suspend:       w.one(10),
		Interrupts:    w.interrupts,
		ShowsEach:     w.interrupts,
		TellsUnknown:  w.interrupts,

		ExecutorsFromStart: w.interrupts,
		ReleasesLate:       w.interrupts,
	}
	policy.Restart.Linear, policy.Restart.CountsApart = w.one(2), w.one(2)
	if w.interrupts {
		policy.Spec = hashed(fmt.Sprintf("spec-%d", w.rng.Intn(3)))
	}
	if w.hasty && w.one(2) {
		policy.Restart = Restart{Policy: RestartAlways, MaxAttempts: 50, ResetAfter: -1}
	}
	if w.restless {
		policy.Executors = Executors{Init: 1, Min: 3, Max: 6}
	}
	if w.one(40) {
		policy.Refused = &Cause{Class: ClassApplication, Reason: "Unsupported", Message: "not this"}
	}
	return policy
}

func ptrTo[T any](value T) *T { return &value }

func (w *world) text() string {
	if !w.wordy {
		return "some text"
	}
	text := badTexts[pick(w, slices.Sorted(maps.Keys(badTexts))...)]
	return text[:min(len(text), 2000)]
}

// ---- Telling ----

func (w *world) note(format string, args ...any) {
	w.diary = append(w.diary, fmt.Sprintf("%s %s", w.now.Sub(start), fmt.Sprintf(format, args...)))
}

// meet remembers what the world came across.
func (w *world) meet(things ...string) {
	for _, thing := range things {
		w.met[thing] = true
	}
}

func (w *world) fail(format string, args ...any) {
	w.t.Helper()
	w.t.Fatalf("seed %d: %s\npolicy: %+v\n%s\nhistory:\n%s", w.seed, fmt.Sprintf(format, args...), w.policy,
		strings.Join(w.diary, "\n"), strings.Join(tell(w.history), "\n"))
}

// ---- The API server ----

// persist stores a record, and holds what is true of each that is stored.
func (w *world) persist(record *v1alpha1.Record) {
	w.t.Helper()
	stored := record
	if w.rng.Intn(4) == 0 {
		stored = w.encode(record)
	}
	if w.newer {
		stored = stored.DeepCopy()
		unknowntest.Fill(stored)
		w.meet("unknown fields")
	}
	w.checkHistory(stored)
	w.stored = stored
	w.checkEnd()
}

// encode takes a record to JSON and back.
func (w *world) encode(record *v1alpha1.Record) *v1alpha1.Record {
	w.t.Helper()
	encoded, err := json.Marshal(record)
	if err != nil {
		w.fail("record: %v", err)
	}
	if len(encoded) > maxRecord {
		w.fail("the record takes %d bytes", len(encoded))
	}
	if len(encoded) > maxRecord/4 {
		w.meet("a large record")
	}
	stored := &v1alpha1.Record{}
	if err := json.Unmarshal(encoded, stored); err != nil {
		w.fail("record: %v", err)
	}
	return stored
}

// deletePod accepts a Pod's deletion; one that was never scheduled goes at once.
func (w *world) deletePod(pod *simPod) {
	if pod.DeletionTimestamp == nil {
		grace := pick(w, int64(30), 30, 1, 3600, 1<<62)
		due := metav1.NewTime(w.now.Add(time.Duration(grace) * time.Second)) // which may overflow, as it does in an API server
		pod.deleted, pod.DeletionTimestamp, pod.DeletionGracePeriodSeconds = w.now, &due, &grace
		w.note("deletion of %s", pod.UID)
	}
	if len(pod.Status.ContainerStatuses) == 0 && pod.Status.Phase == corev1.PodPending {
		w.remove(pod)
	}
}

// remove takes a Pod out of the API server, and its containers with it, unless a finalizer keeps it.
func (w *world) remove(pod *simPod) {
	interrupted := !pod.interrupted && w.one(10)
	if len(pod.Finalizers) > 0 || interrupted {
		now := metav1.NewTime(w.now)
		if pod.DeletionTimestamp == nil {
			pod.deleted = w.now
		}
		pod.DeletionTimestamp, pod.DeletionGracePeriodSeconds = &now, new(int64)
		pod.interrupted = pod.interrupted || interrupted
		w.note("%s is kept by a finalizer, or its deletion is interrupted", pod.UID)
		return
	}
	w.pods = slices.DeleteFunc(w.pods, func(other *simPod) bool { return other == pod })
	w.note("%s is gone", pod.UID)
}

// sync brings the informer's cache up to date.
func (w *world) sync() {
	there := map[types.UID]*corev1.Pod{}
	for _, pod := range w.pods {
		there[pod.UID] = pod.DeepCopy()
	}
	for uid, pod := range w.cache {
		if there[uid] == nil {
			w.departed[uid] = pod
		}
	}
	w.cache = there
}
