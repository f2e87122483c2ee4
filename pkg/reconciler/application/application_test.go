package application

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	"knative.dev/pkg/controller"

	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/events"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

// teller is a relay that has come so far.
type teller struct {
	Teller
	progress events.Progress
}

func (t teller) Progress(types.UID) events.Progress { return t.progress }

func TestADeletedApplicationWaitsForItsEventsToBeTaken(t *testing.T) {
	const grace = 5 * time.Minute
	for name, test := range map[string]struct {
		app      *application
		progress events.Progress
		after    time.Duration // its end
		want     time.Duration
	}{
		"not where nobody ever looked at it":                      {app: pi()},
		"not where all are taken":                                 {pi().In(lifecycle.ResourceReleased, 4, 2), events.Progress{Acknowledged: 4}, 0, 0},
		"not where the record says that all are taken":            {pi().In(lifecycle.ResourceReleased, 4, 4), events.Progress{}, 0, 0},
		"while some are pending":                                  {pi().In(lifecycle.ResourceReleased, 4, 2), events.Progress{Acknowledged: 3, Pending: 1}, time.Minute, grace - time.Minute},
		"while only a clock event is pending":                     {pi().In(lifecycle.ResourceReleased, 4, 4), events.Progress{Acknowledged: 4, Pending: 1}, 0, grace},
		"where the relay was shut down and so knows of none":      {pi().In(lifecycle.ResourceReleased, 4, 2), events.Progress{}, time.Minute, grace - time.Minute},
		"not for longer than its grace, whatever is pending":      {pi().In(lifecycle.ResourceReleased, 4, 2), events.Progress{Pending: 2}, grace, 0},
		"not for longer than its grace where the relay is silent": {pi().In(lifecycle.ResourceReleased, 4, 2), events.Progress{}, grace, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := &Reconciler{relay: teller{progress: test.progress}, clock: clockAt(start.Add(test.after))}
			ctx := controller.WithEventRecorder(config.ToContext(t.Context(), config.Default()), record.NewFakeRecorder(1))
			if got := r.deliveryGrace(ctx, test.app.Obj()); got != test.want {
				t.Errorf("it waits for %s, want %s", got, test.want)
			}
		})
	}
}
