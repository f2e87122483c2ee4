package application

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/applicationtest"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base/delivery"
)

// A timer may be over before who starts it goes on. Here its clock is the machine's.
func TestDeadlineInThePastEnqueuesAtOnce(t *testing.T) {
	const many = 100_000
	app := types.NamespacedName{Name: "one"}
	looked := make(chan types.NamespacedName)
	d := newDeadlines(func(app types.NamespacedName) { looked <- app })
	for n := range many {
		d.set(app, -1)
		select {
		case <-looked:
		case <-t.Context().Done():
			t.Fatalf("deadline %d is lost", n)
		case <-time.After(2 * time.Minute):
			t.Fatalf("deadline %d is lost", n)
		}
	}
}

func TestOnlyTheLastDeadlineEnqueuesAnApplication(t *testing.T) {
	one, other := types.NamespacedName{Name: "one"}, types.NamespacedName{Name: "other"}
	for _, test := range []struct {
		name string
		set  func(*deadlines)
		// want are those that are looked at, and when.
		want []string
	}{
		{"it is due", func(d *deadlines) { d.set(one, 3*time.Second) }, []string{"one at 3s"}},
		{"it was due before", func(d *deadlines) { d.set(one, -time.Second) }, []string{"one at 0s"}},
		{"a later one follows", func(d *deadlines) {
			d.set(one, 2*time.Second)
			d.set(one, 4*time.Second)
		}, []string{"one at 4s"}},
		{"a sooner one follows", func(d *deadlines) {
			d.set(one, 4*time.Second)
			d.set(one, 2*time.Second)
		}, []string{"one at 2s"}},
		{"none follows", func(d *deadlines) {
			d.set(one, 2*time.Second)
			d.clear(one)
		}, nil},
		{"another follows one that came", func(d *deadlines) {
			d.set(one, 2*time.Second)
			time.Sleep(3 * time.Second)
			d.set(one, 2*time.Second)
		}, []string{"one at 2s", "one at 5s"}},
		{"another application has one", func(d *deadlines) {
			d.set(one, 2*time.Second)
			d.set(other, 3*time.Second)
			d.clear(one)
		}, []string{"other at 3s"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begin := time.Now()
				looked := make(chan string, 8)
				d := newDeadlines(func(app types.NamespacedName) {
					looked <- fmt.Sprintf("%s at %s", app.Name, time.Since(begin))
				})
				test.set(d)
				time.Sleep(time.Minute)
				synctest.Wait()
				close(looked)
				var got []string
				for app := range looked {
					got = append(got, app)
				}
				if !slices.Equal(got, test.want) || len(d.next) > 0 {
					t.Errorf("looked at %q, want %q; %d deadlines are left", got, test.want, len(d.next))
				}
			})
		})
	}
}

// The sink has acknowledged a transition that is not in the cache yet. Its cursor cannot be written before.
func TestAnApplicationIsNotRequeuedForACursorBeyondAStaleRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		enqueued := 0
		r := &Reconciler{
			clock:     clocktesting.NewFakePassiveClock(applicationtest.Start.Add(delivery.CursorDelay)),
			deadlines: newDeadlines(func(types.NamespacedName) { enqueued++ }),
		}
		v := applicationtest.Viewed(applicationtest.Pi().In(lifecycle.RunningHealthy, 4, 4).Obj())
		v.Progress.Acknowledged = 5
		r.requeueAt(t.Context(), v, lifecycle.Decision{})
		time.Sleep(time.Minute)
		synctest.Wait()
		if enqueued > 0 {
			t.Errorf("it is enqueued %d times", enqueued)
		}
	})
}
