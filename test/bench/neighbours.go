package main

import (
	"context"
	"fmt"
	"time"

	"github.com/firesteel-dev/firesteel/test/bench/report"
)

const (
	partNeighbours = "neighbours"
	// neighbourGoal is how much longer the events of one team may take beside a Trigger of another one that is dead or slow.
	neighbourGoal = 1.5
	// slowAnswer is how long a slow Trigger takes for each event.
	slowAnswer = 5 * time.Second
)

// behindTrigger is the number of applications of the other team.
func (b *bench) behindTrigger() int { return max(b.count*64/100, 1) }

// measureNeighbours is the part that holds the delay of one team's events beside a Trigger of another team, which is dead or slow,
// against their delay without it.
func (b *bench) measureNeighbours(ctx context.Context) error {
	for _, trigger := range []struct {
		name   string
		answer time.Duration
	}{{"dead", patience}, {"slow", slowAnswer}} {
		alone, beside, err := b.besideTrigger(ctx, trigger.answer)
		if err != nil {
			return err
		}
		of := fmt.Sprintf("%d applications behind a %s Trigger", b.behindTrigger(), trigger.name)
		p50, p90, p99 := b.AddTimes(partNeighbours, of, "another team's event", beside)
		against(alone, p50, p90, p99)
		for _, figure := range []*report.Figure{p50, p90} {
			figure.RatioBelow(neighbourGoal)
		}
		b.logf("%s: p50 %.2f, p90 %.2f and p99 %.2f times as long as without", of, p50.Ratio(), p90.Ratio(), p99.Ratio())
	}
	return nil
}

// besideTrigger measures the delay of events before another team's Trigger takes so long for each of its events, and while it does.
func (b *bench) besideTrigger(ctx context.Context, answer time.Duration) (alone, beside []time.Duration, err error) {
	c, err := b.startController(ctx, setup{sink: b.sink.url()})
	if err != nil {
		return nil, nil, err
	}
	defer c.Kill()
	if alone, err = b.eventDelays(ctx); err != nil {
		return nil, nil, err
	}
	others, err := b.newWorkload(ctx, apacheKind, held, nil)
	if err != nil {
		return nil, nil, err
	}
	defer others.close()
	others.executors = 0
	release := b.sink.hold(others.namespace, answer)
	defer release()
	names := namesFrom(0, b.behindTrigger())
	if err := others.create(ctx, names); err != nil {
		return nil, nil, err
	}
	if _, err := others.untilAll(ctx, names, launched); err != nil {
		return nil, nil, err
	}
	if beside, err = b.eventDelays(ctx); err != nil {
		return nil, nil, err
	}
	release()
	if err := others.remove(ctx, names); err != nil {
		return nil, nil, err
	}
	_, err = others.untilAll(ctx, names, gone)
	return alone, beside, err
}

// eventDelays are those of the events of applications that follow one another.
func (b *bench) eventDelays(ctx context.Context) ([]time.Duration, error) {
	workload, err := b.newWorkload(ctx, apacheKind, held, nil)
	if err != nil {
		return nil, err
	}
	measured, err := b.latencies(ctx, workload, b.timedApplications()/3+1)
	return measured.event, err
}
