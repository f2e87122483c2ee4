package application

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/kube"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/applicationtest"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base"
	"github.com/firesteel-dev/firesteel/pkg/schedule/variant"
)

// waiting returns a burst in which some objects wait.
func waiting(objects int) *base.Burst {
	var b base.Burst
	for i := range objects {
		b.Set(types.UID(fmt.Sprint(i)), true)
	}
	return &b
}

func toBeDeleted(app *sparkv1.SparkApplication) *sparkv1.SparkApplication {
	app.DeletionTimestamp = &metav1.Time{Time: applicationtest.Start}
	return app
}

// What is launched while many runs are due keeps those from being created.
func TestBackpressureOfDueRunsHoldsNewRuns(t *testing.T) {
	run := func(a *applicationtest.Application) *sparkv1.SparkApplication {
		app := a.Obj()
		app.Annotations = map[string]string{variant.AnnotationScheduledTime: "2026-03-01T13:00:00Z"}
		app.CreationTimestamp = metav1.NewTime(applicationtest.Start)
		return app
	}
	for name, test := range map[string]struct {
		app   *sparkv1.SparkApplication
		due   int
		after time.Duration
		want  time.Duration
	}{
		"a run":                                 {run(applicationtest.Pi()), 100, time.Second, backpressureRetry},
		"not if few are due":                    {run(applicationtest.Pi()), 2, time.Second, 0},
		"not for ever":                          {run(applicationtest.Pi()), 100, maxBackpressure, 0},
		"not a run that was reconciled":         {run(applicationtest.Pi().In(lifecycle.Submitted, 1, 1)), 100, time.Second, 0},
		"not a deleted one":                     {toBeDeleted(run(applicationtest.Pi())), 100, time.Second, 0},
		"not an application without a schedule": {applicationtest.Pi().Obj(), 100, time.Second, 0},
		"not if all are created":                {run(applicationtest.Pi()), 0, time.Second, 0},
	} {
		t.Run(name, func(t *testing.T) {
			clock := applicationtest.ClockAt(applicationtest.Start.Add(test.after))
			y := yielding{waiting(test.due), waiting(0), newPodEventTimes(clock), clock, leavesNone}
			if got := y.wait(test.app); got != test.want {
				t.Errorf("it waits %s, want %s", got, test.want)
			}
		})
	}
}

func leavesNone(dialect.Application) bool { return false }

func TestProcessThatStopsLeavesNewApplicationsToTheNextLeader(t *testing.T) {
	clock := applicationtest.ClockAt(applicationtest.Start)
	y := yielding{waiting(0), waiting(0), newPodEventTimes(clock), clock, func(dialect.Application) bool { return true }}
	if got := y.wait(applicationtest.Pi().Obj()); got != backpressureRetry {
		t.Errorf("a new application waits %s, want %s", got, backpressureRetry)
	}
	if got := y.wait(applicationtest.Pi().In(lifecycle.RunningHealthy, 5, 5).Obj()); got != 0 {
		t.Errorf("an application that runs waits %s", got)
	}
	if got := y.wait(toBeDeleted(applicationtest.Pi().Obj())); got != 0 {
		t.Errorf("a deleted application waits %s", got)
	}
}

// A burst of new applications shares the API server with the status writes of those that run.
func TestBackpressureOfFirstLaunchesHoldsNewsOfDrivers(t *testing.T) {
	running := func() *sparkv1.SparkApplication { return applicationtest.Pi().In(lifecycle.RunningHealthy, 5, 5).Obj() }
	for name, test := range map[string]struct {
		app      *sparkv1.SparkApplication
		launches int
		news     bool
		after    time.Duration
		want     time.Duration
	}{
		"news of a driver":          {running(), 100, true, 0, maxYield},
		"until it is old":           {running(), 100, true, time.Second, maxYield - time.Second},
		"not longer":                {running(), 100, true, maxYield, 0},
		"not if few launches wait":  {running(), 2, true, 0, 0},
		"not what is no news":       {running(), 100, false, 0, 0},
		"not a new application":     {applicationtest.Pi().Obj(), 100, true, 0, 0},
		"not a deleted application": {toBeDeleted(running()), 100, true, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			clock := applicationtest.ClockAt(applicationtest.Start)
			times := newPodEventTimes(clock)
			if test.news {
				times.record(kube.KeyOf(test.app))
			}
			clock.SetTime(applicationtest.Start.Add(test.after))
			times.record(kube.KeyOf(running())) // later news does not make the first one younger
			if !test.news {
				times = newPodEventTimes(clock)
			}
			y := yielding{waiting(0), waiting(test.launches), times, clock, leavesNone}
			if got := y.wait(test.app); got != test.want {
				t.Errorf("it waits %s, want %s", got, test.want)
			}
		})
	}
}

// To release drivers takes requests that first launches need.
func TestBackpressureOfFirstLaunchesHoldsReleases(t *testing.T) {
	ended := applicationtest.Start
	for name, test := range map[string]struct {
		launches int
		canWait  bool
		after    time.Duration
		want     time.Time
	}{
		"of an application that is over": {100, true, time.Second, ended.Add(maxReleaseYield)},
		"not if something waits for it":  {100, false, time.Second, time.Time{}},
		"not if few launches wait":       {2, true, time.Second, time.Time{}},
		"not for ever":                   {100, true, maxReleaseYield, time.Time{}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				enqueued, launches := 0, waiting(test.launches)
				r := &Reconciler{
					clock: applicationtest.ClockAt(ended.Add(test.after)), firstLaunches: launches,
					deadlines: newDeadlines(func(types.NamespacedName) { enqueued++ }),
				}
				v := applicationtest.Viewed(applicationtest.Pi().In(lifecycle.Succeeded, 6, 6).Obj())
				record := v.Record()
				record.Transitions[5].End = &v1alpha1.AttemptEnd{Outcome: v1alpha1.OutcomeSucceeded}
				decision := lifecycle.Decision{Effect: lifecycle.Release, ReleaseCanWait: test.canWait}
				until, yields := r.releaseYields(v, record, decision)
				if yields != !test.want.IsZero() || yields && !until.Equal(test.want) {
					t.Errorf("it yields: %t, until %s; want %s", yields, until, test.want)
				}
				for i := range 100 {
					launches.Set(types.UID(fmt.Sprint(i)), false)
				}
				synctest.Wait()
				if woken := enqueued == 1; woken != !test.want.IsZero() {
					t.Errorf("once no launch waits, it is enqueued %d times", enqueued)
				}
			})
		})
	}
}
