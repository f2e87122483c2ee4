package chaos

import (
	"context"
	"fmt"
	"time"

	"github.com/firesteel-dev/firesteel/test/harness/rng"
)

// guard is a way in which the controller runs.
type guard struct {
	name  string
	count int
	alone bool
}

// guards are all ways.
var guards = []guard{
	{"a controller alone", 1, true},
	{"two replicas that elect leaders", 2, false},
	{"two controllers that overlap", 2, true},
}

// overlaps reports whether several controllers act at once.
func (g guard) overlaps() bool { return g.alone && g.count > 1 }

// changeGuards changes how the controller runs, and lets it do some work in each way. New processes start before old
// ones end. Two versions of the controller run in turns, and those that run at the same time differ.
func (r *run) changeGuards(ctx context.Context) error {
	d := rng.New(r.seed, "guards")
	for i := d.Below(len(guards)); ; i++ {
		guard := guards[i%len(guards)]
		if guard.overlaps() && *versionsFlag != "" {
			continue // two versions that act at once for longer than a lease never meet
		}
		old, before := r.supervisor.Names("controller"), r.history.Ended()
		for n := range guard.count {
			name := fmt.Sprintf("controller-%d-%d", i, n)
			if err := r.supervisor.Add(r.Context(), r.controller(name, i+n, guard.alone)); err != nil {
				return err
			}
		}
		for _, name := range old {
			r.supervisor.Remove(name, d.Chance(0.5))
		}
		select {
		case <-time.After(*guardFlag):
		case <-ctx.Done():
			return nil
		}
		if err := r.untilEnded(ctx, before+1); err != nil {
			return err
		}
	}
}

// killers kill programs at random instants. After some kills they wait until an application has ended, so that work is
// done in between.
func (r *run) killers(ctx context.Context) error {
	d := rng.New(r.seed, "killers")
	var deck []string
	for ctx.Err() == nil {
		before := r.history.Ended()
		for range killsAtOnce {
			select {
			case <-time.After(d.Between(0, 2*time.Second)):
			case <-ctx.Done():
				return nil
			}
			if len(deck) == 0 {
				deck = d.Shuffled(mortal)
			}
			r.killOne(d, deck[0])
			deck = deck[1:]
		}
		if err := r.untilEnded(ctx, before+1); err != nil {
			return err
		}
	}
	return nil
}

// killsAtOnce is the number of kills before they wait for an application to end.
const killsAtOnce = 3

// mortal names the programs that are killed. A program that is named twice is killed twice as often.
var mortal = []string{"controller", "sink", "controller", "handler-restart", "controller", "handler-ttl", "sink", "controller", "kwok", "webhook"}

func (r *run) killOne(d *rng.Rand, prefix string) {
	if names := r.supervisor.Names(prefix); len(names) > 0 {
		r.supervisor.Kill(names[d.Below(len(names))])
	}
}

// untilEnded waits until a number of applications have ended.
func (r *run) untilEnded(ctx context.Context, count int) error {
	deadline := time.After(patience)
	ticker := time.NewTicker(poll)
	defer ticker.Stop()
	for r.history.Ended() < count {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return nil
		case <-deadline:
			return fmt.Errorf("no application came to its end within %s between kills", patience)
		}
	}
	return nil
}

// siege kills the API server that Firesteel uses, if it has one of its own, whenever that has run for a while.
func (r *run) siege(ctx context.Context) error {
	d := rng.New(r.seed, "siege")
	for {
		select {
		case <-time.After(d.Between(20*time.Second, 60*time.Second)):
			r.supervisor.Kill(apiServer)
		case <-ctx.Done():
			return nil
		}
	}
}

// outages make the API server unreachable for all clients, now and then.
func (r *run) outages(ctx context.Context) error {
	d := rng.New(r.seed, "outages")
	for {
		select {
		case <-time.After(d.About(6 * time.Second)):
			r.gateway.Outage(ctx, d.Between(0, 2*r.delay))
		case <-ctx.Done():
			return nil
		}
	}
}
