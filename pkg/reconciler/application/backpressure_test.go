package application

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/applicationtest"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base"
	"github.com/firesteel-dev/firesteel/pkg/schedule/variant"
)

func backlog(waiting int) *base.Backlog {
	var b base.Backlog
	for i := range 100 {
		b.Set(types.UID(fmt.Sprint(i)), true)
	}
	for i := waiting; i < 100; i++ {
		b.Set(types.UID(fmt.Sprint(i)), false)
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
			y := yielding{backlog(test.due), backlog(0), newPodEventTimes(clock), clock}
			if got := y.wait(test.app); got != test.want {
				t.Errorf("it waits %s, want %s", got, test.want)
			}
		})
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
				times.record(base.KeyOf(test.app))
			}
			clock.SetTime(applicationtest.Start.Add(test.after))
			times.record(base.KeyOf(running())) // later news does not make the first one younger
			if !test.news {
				times = newPodEventTimes(clock)
			}
			y := yielding{backlog(0), backlog(test.launches), times, clock}
			if got := y.wait(test.app); got != test.want {
				t.Errorf("it waits %s, want %s", got, test.want)
			}
		})
	}
}
