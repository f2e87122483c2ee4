package usage_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/usage"
)

var small = usage.Requests{MilliCPU: 500, Mebibytes: 1408, GPUs: 2}

// ran is an executor with an ID that got its node at a second, and ended at another; zero if it has not.
func ran(id, from, to int64) usage.Executor {
	executor := usage.Executor{ID: id, Pod: usage.Pod{Requests: small, Scheduled: at(from)}}
	if to != 0 {
		executor.Ended = at(to)
	}
	return executor
}

// used is what Pods with the requests small use.
func used(seconds int64) *v1alpha1.PodUsage {
	if seconds == 0 {
		return nil
	}
	return &v1alpha1.PodUsage{Seconds: seconds, CoreMilliseconds: 500 * seconds, MebibyteSeconds: 1408 * seconds, GPUSeconds: 2 * seconds}
}

func begun() v1alpha1.AttemptUsage { return v1alpha1.AttemptUsage{CountedAt: metav1.NewTime(start)} }

func never() bool { return false }

func always() bool { return true }

// of observes executors by a process that watches since a second.
func of(since int64, executors ...usage.Executor) usage.Observed {
	return usage.Observed{Executors: executors, ExecutorsKnown: true, Since: after(since), Dynamic: never}
}

func TestCounts(t *testing.T) {
	type count struct {
		at   int64
		seen usage.Observed
	}
	driver := func(pod usage.Pod, gone bool) usage.Observed {
		pod.Requests = small
		seen := of(-1)
		seen.Driver, seen.DriverGone = &pod, gone
		return seen
	}
	dynamic := of(30, ran(1, 5, 0))
	dynamic.Dynamic = always
	for name, test := range map[string]struct {
		counts []count
		want   v1alpha1.Usage
	}{
		"an executor that runs until now": {
			counts: []count{{20, of(-1, ran(1, 5, 0))}},
			want:   v1alpha1.Usage{Executors: used(15), PeakExecutors: 1, RunningPods: 1},
		},
		"one that ended once, however often it is seen": {
			counts: []count{{20, of(-1, ran(1, 5, 0))}, {30, of(-1, ran(1, 5, 25))}, {40, of(-1, ran(1, 5, 25))}},
			want:   v1alpha1.Usage{Executors: used(20), PeakExecutors: 1},
		},
		"no more than its time, if its end is seen late": {
			counts: []count{{20, of(-1, ran(1, 5, 0))}, {30, of(-1, ran(1, 5, 18))}},
			want:   v1alpha1.Usage{Executors: used(13), PeakExecutors: 1},
		},
		"one that waits for a node, not at all": {
			counts: []count{{20, of(-1, usage.Executor{ID: 1})}},
			want:   v1alpha1.Usage{},
		},
		"those that ran at once": {
			counts: []count{{40, of(-1, ran(1, 5, 20), ran(2, 10, 30), ran(3, 20, 40), ran(4, 21, 21))}},
			want:   v1alpha1.Usage{Executors: used(55), PeakExecutors: 2},
		},
		"those that outlive a restart in full": {
			counts: []count{{20, of(-1, ran(1, 5, 0), ran(2, 5, 0))}, {50, of(40, ran(1, 5, 0), ran(2, 5, 33))}},
			want:   v1alpha1.Usage{Executors: used(45 + 28), PeakExecutors: 2, RunningPods: 1},
		},
		"one that vanished meanwhile until it was last counted, with a gap": {
			counts: []count{{20, of(-1, ran(1, 5, 0), ran(2, 6, 0))}, {50, of(40, ran(1, 5, 0))}, {60, of(40, ran(1, 5, 0))}},
			want:   v1alpha1.Usage{Executors: used(55 + 14), PeakExecutors: 2, RunningPods: 1, GapSeconds: 20},
		},
		"a gap, if Spark counted one that was never seen": {
			counts: []count{{20, of(-1, ran(1, 5, 0))}, {50, of(40, ran(1, 5, 0), ran(3, 35, 0))}},
			want:   v1alpha1.Usage{Executors: used(45 + 15), PeakExecutors: 2, RunningPods: 2, GapSeconds: 20},
		},
		"a gap, if Spark changes the number of executors": {
			counts: []count{{20, of(-1, ran(1, 5, 0))}, {50, dynamic}},
			want:   v1alpha1.Usage{Executors: used(45), PeakExecutors: 1, RunningPods: 1, GapSeconds: 10},
		},
		"one whose end nobody reported until its deletion, with a gap": {
			counts: []count{{20, of(-1, usage.Executor{ID: 1, Pod: usage.Pod{Requests: small, Scheduled: at(5), Ended: at(15)}, Gap: 4})}},
			want:   v1alpha1.Usage{Executors: used(10), PeakExecutors: 1, GapSeconds: 4},
		},
		"one of which nothing was seen any more until it was last counted, with a gap": {
			counts: []count{{20, of(-1, ran(1, 5, 0))}, {50, of(-1, usage.Executor{
				ID: 1, Pod: usage.Pod{Requests: small, Scheduled: at(5), Ended: at(5)}, Gap: 40,
			})}},
			want: v1alpha1.Usage{Executors: used(15), PeakExecutors: 1, GapSeconds: 25},
		},
		"the driver until now": {
			counts: []count{{20, driver(usage.Pod{Scheduled: at(2)}, false)}},
			want:   v1alpha1.Usage{Driver: used(18), RunningPods: 1},
		},
		"the driver until its end": {
			counts: []count{{20, driver(usage.Pod{Scheduled: at(2)}, false)}, {30, driver(usage.Pod{Scheduled: at(2), Ended: at(19)}, false)}},
			want:   v1alpha1.Usage{Driver: used(17)},
		},
		"a driver that is gone until its containers' end": {
			counts: []count{{20, driver(usage.Pod{Scheduled: at(2), Finished: at(12), Deleted: at(3)}, true)}},
			want:   v1alpha1.Usage{Driver: used(10)},
		},
		"a driver that was lost until its deletion, with a gap": {
			counts: []count{{20, driver(usage.Pod{Scheduled: at(2), Deleted: at(12)}, true)}},
			want:   v1alpha1.Usage{Driver: used(10), GapSeconds: 8},
		},
		"a driver that vanished unseen until it was last counted, with a gap": {
			counts: []count{{20, driver(usage.Pod{Scheduled: at(2)}, false)}, {50, usage.Observed{DriverGone: true, Dynamic: never}}, {60, of(-1)}},
			want:   v1alpha1.Usage{Driver: used(18), GapSeconds: 30},
		},
	} {
		t.Run(name, func(t *testing.T) {
			counted := begun()
			for _, c := range test.counts {
				counted = usage.Count(counted, c.seen, after(c.at))
			}
			if diff := cmp.Diff(test.want, usage.Sum(counted)); diff != "" {
				t.Errorf("usage (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAnAttemptCountsUntilTheEndOfItsDriver(t *testing.T) {
	counted := usage.Count(begun(), of(-1, ran(1, 5, 0), ran(2, 5, 0)), after(10))
	got := usage.Sum(usage.Count(counted, of(-1, ran(1, 5, 0), ran(2, 5, 30)), after(20)))
	if want := used(30); !cmp.Equal(got.Executors, want) {
		t.Errorf("executors used %+v, want %+v", got.Executors, want)
	}
}

// TestRandomLivesAreCountedExactly lets executors live and die while processes watch, stop and start. All whose Pods are seen once more
// count in full; one that is not is a gap.
func TestRandomLivesAreCountedExactly(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 1))
		live(t, seed, rng)
	}
}

func live(t *testing.T, seed uint64, rng *rand.Rand) {
	t.Helper()
	counted := begun()
	pods := map[int64]*usage.Executor{}
	gone := map[int64]usage.Executor{}
	var total, next int64
	unseen, watching, since := false, true, int64(-1)
	seen := func() usage.Observed {
		var executors []usage.Executor
		for _, pod := range pods {
			executors = append(executors, *pod)
		}
		for _, pod := range gone {
			executors = append(executors, pod)
		}
		seen := of(since, executors...)
		seen.Dynamic = always
		return seen
	}
	for now := int64(1); now < 400; now++ {
		switch n := rng.IntN(10); {
		case n < 3 && len(pods) < 20:
			next++
			created := ran(next, now, 0)
			pods[next] = &created
		case n < 6:
			for id, pod := range pods { // any
				if pod.Ended == 0 {
					pod.Ended = at(now)
					total += now - (pod.Scheduled - at(0))
				}
				if rng.IntN(2) == 0 {
					if watching {
						gone[id] = *pod
					} else {
						unseen = true
					}
					delete(pods, id)
				}
				break
			}
		case n < 8 && watching:
			counted = usage.Count(counted, seen(), after(now))
			isCounted := usage.Counted(counted)
			for id, pod := range gone {
				if isCounted(pod) {
					delete(gone, id)
				}
			}
		case n == 8 && rng.IntN(4) == 0:
			if watching = !watching; watching {
				since = now
			} else {
				clear(gone)
				unseen = true // those that no write had counted
			}
		}
	}
	if !watching {
		since = 400
	}
	counted = usage.Count(counted, seen(), after(400))
	for _, pod := range pods {
		if pod.Ended == 0 {
			total += at(400) - pod.Scheduled
		}
	}
	got := usage.Sum(counted)
	var sum int64
	if got.Executors != nil {
		sum = got.Executors.Seconds
	}
	if sum > total || sum != total && got.GapSeconds == 0 || got.GapSeconds > 0 && !unseen {
		t.Errorf("seed %d: %d seconds are counted of %d, with a gap of %d", seed, sum, total, got.GapSeconds)
	}
}

func TestARecordStaysSmall(t *testing.T) {
	var executors []usage.Executor
	for id := range int64(20_000) {
		executors = append(executors, ran(2*id, 5, 20), usage.Executor{
			ID: usage.ID("", types.UID(fmt.Sprint(id)), false), Pod: usage.Pod{Requests: small, Scheduled: at(5)},
		})
	}
	counted := usage.Count(begun(), of(-1, executors...), after(30))
	if size := len(counted.EndedExecutors) + len(counted.RunningExecutors); size > 4096 || !counted.Approximate {
		t.Errorf("the IDs take %d bytes, approximate: %t", size, counted.Approximate)
	}
	if got := usage.Sum(counted); got.Executors.Seconds != 20_000*(15+25) {
		t.Errorf("executors used %+v", got.Executors)
	}
}

func TestAnEditedRecordIsRead(t *testing.T) {
	edited := begun()
	edited.EndedExecutors, edited.RunningExecutors = "a,-,3-1,9999999999999999999,7"+strings.Repeat(",1", 1000), "0-2147483647"
	edited.Ended.Executors = &v1alpha1.PodUsage{Seconds: 1 << 62}
	got := usage.Sum(usage.Count(edited, of(-1, ran(7, 5, 20), ran(8, 5, 20)), after(30)))
	if got.Executors == nil || got.Executors.Seconds < 0 {
		t.Errorf("executors used %+v", got.Executors)
	}
}

func TestNothingOverflows(t *testing.T) {
	huge := usage.Executor{ID: 1, Pod: usage.Pod{Requests: usage.Requests{MilliCPU: 1 << 62, Mebibytes: 1 << 62}, Scheduled: 1, Ended: 1 << 40}}
	got := usage.Sum(usage.Count(begun(), of(-1, huge), time.Unix(1<<41, 0)))
	if got.Executors.CoreMilliseconds < 0 || got.Executors.MebibyteSeconds < 0 {
		t.Errorf("executors used %+v", got.Executors)
	}
}

func TestTheTotalIsThatOfAllAttempts(t *testing.T) {
	var record *v1alpha1.ApplicationUsage
	begin := func() time.Time { return start }
	launch := func(uid string) *v1alpha1.Launch {
		return &v1alpha1.Launch{ApplicationID: "spark-" + uid, DriverPod: "driver", DriverUID: types.UID(uid)}
	}
	if record = usage.Begin(nil, 0, &v1alpha1.Launch{}, begin); record != nil {
		t.Errorf("an attempt without a driver used %+v", record)
	}
	for attempt := range int64(4) {
		record = usage.Begin(record, attempt, launch(fmt.Sprint(attempt)), begin)
		record = usage.Begin(record, attempt, launch(fmt.Sprint(attempt)), begin)
		last := len(record.Attempts) - 1
		usage.Update(record, last, usage.Count(record.Attempts[last], of(-1, ran(1, 0, 0)), after(10)))
		usage.Update(record, last, usage.Count(record.Attempts[last], of(-1, ran(1, 0, 15)), after(20)))
	}
	want := v1alpha1.Usage{Executors: used(4 * 15), PeakExecutors: 1}
	if diff := cmp.Diff(want, record.Total); diff != "" {
		t.Errorf("total (-want +got):\n%s", diff)
	}
	if len(record.Attempts) != 2 || record.Attempts[1].Attempt != 3 {
		t.Errorf("attempts are %+v", record.Attempts)
	}
}
