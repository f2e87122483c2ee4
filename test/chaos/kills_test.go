package chaos

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/firesteel-dev/firesteel/test/chaos/dice"
)

// guards are ways in which the controller runs.
var guards = []struct {
	name  string
	count int
	alone bool
}{
	{"a controller alone", 1, true},
	{"two replicas that elect leaders", 2, false},
	{"two controllers that overlap", 2, true},
}

// changeGuards has the controller run now this way, now that. New processes come before old ones go.
func (r *run) changeGuards(ctx context.Context) error {
	d := dice.New(r.seed, "guards")
	for i := d.Below(len(guards)); ; i++ {
		guard := guards[i%len(guards)]
		old := r.crew.names("controller")
		for n := range guard.count {
			name := fmt.Sprintf("controller-%d-%d", i, n)
			if err := r.crew.join(r.Context(), r.controller(name, guard.alone)); err != nil {
				return err
			}
		}
		for _, name := range old {
			r.crew.leave(name, d.Chance(0.5))
		}
		select {
		case <-time.After(*guardFlag):
		case <-ctx.Done():
			return nil
		}
	}
}

// killers kill programs at random instants. After some kills they wait until an application came to its end: work is
// done in between.
func (r *run) killers(ctx context.Context) error {
	d := dice.New(r.seed, "killers")
	for round := 1; ctx.Err() == nil; round++ {
		before := r.court.Ended()
		for range 3 {
			select {
			case <-time.After(d.Between(0, 2*time.Second)):
			case <-ctx.Done():
				return nil
			}
			r.killOne(d)
		}
		if err := r.untilEnded(ctx, before+1); err != nil {
			return err
		}
	}
	return nil
}

// mortal says how often who is killed; an API server takes long to start.
var mortal = map[string]float64{"controller": 4, "sink": 2, "handler-restart": 1, "handler-ttl": 1, "kwok": 1, apiServer: 0.3}

func (r *run) killOne(d *dice.Dice) {
	prefix := dice.Pick(d, slices.Sorted(maps.Keys(mortal)), func(prefix string) float64 { return mortal[prefix] })
	if names := r.crew.names(prefix); len(names) > 0 {
		r.crew.kill(names[d.Below(len(names))])
	}
}

// untilEnded waits until a number of applications came to their ends.
func (r *run) untilEnded(ctx context.Context, count int) error {
	deadline := time.After(patience)
	ticker := time.NewTicker(poll)
	defer ticker.Stop()
	for r.court.Ended() < count {
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

// outages have the API server out of reach for everybody, now and then.
func (r *run) outages(ctx context.Context) error {
	d := dice.New(r.seed, "outages")
	for {
		select {
		case <-time.After(d.About(6 * time.Second)):
			r.gateway.Outage(ctx, d.Between(0, 2*r.delay))
		case <-ctx.Done():
			return nil
		}
	}
}
