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

// What is launched while many runs are due keeps those from being created.
func TestRunsOfSchedulesYieldToThoseThatAreDue(t *testing.T) {
	run := func(a *applicationtest.Application) *sparkv1.SparkApplication {
		app := a.Obj()
		app.Annotations = map[string]string{variant.AnnotationScheduledTime: "2026-03-01T13:00:00Z"}
		app.CreationTimestamp = metav1.NewTime(applicationtest.Start)
		return app
	}
	begun, deleted := run(applicationtest.Pi().In(lifecycle.Submitted, 1, 1)), run(applicationtest.Pi())
	deleted.DeletionTimestamp = &metav1.Time{Time: applicationtest.Start}
	for name, test := range map[string]struct {
		app   *sparkv1.SparkApplication
		due   int
		after time.Duration
		want  bool
	}{
		"a run":                      {run(applicationtest.Pi()), 100, time.Second, true},
		"not where few are due":      {run(applicationtest.Pi()), 2, time.Second, false},
		"not for ever":               {run(applicationtest.Pi()), 100, maxBackpressure, false},
		"not what is begun with":     {begun, 100, time.Second, false},
		"not what is to go":          {deleted, 100, time.Second, false},
		"not what is no schedule's":  {applicationtest.Pi().Obj(), 100, time.Second, false},
		"not where they are created": {run(applicationtest.Pi()), 0, time.Second, false},
	} {
		t.Run(name, func(t *testing.T) {
			var rush base.StartBacklog
			for i := range 100 {
				rush.Set(types.UID(fmt.Sprint(i)), true)
			}
			for i := test.due; i < 100; i++ {
				rush.Set(types.UID(fmt.Sprint(i)), false)
			}
			if got := shouldYield(test.app, &rush, applicationtest.ClockAt(applicationtest.Start.Add(test.after))); got != test.want {
				t.Errorf("it yields: %t, want %t", got, test.want)
			}
		})
	}
}
