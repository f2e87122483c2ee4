package main

import (
	"context"
	"fmt"
	"time"
)

const (
	partHandover = "hand-over"
	// What the longest wait for a driver may be while one of two replicas ends, in seconds.
	stopGoal, killGoal = 5, 25
	// createEvery is the time between two applications during a hand-over.
	createEvery = 200 * time.Millisecond
)

// rounds is how often each hand-over is measured.
func (b *bench) rounds() int { return max(b.batches/2, 1) }

// measureHandover is the part that ends one of two replicas while applications are created. It measures how long an application
// waits at most until its driver exists.
func (b *bench) measureHandover(ctx context.Context) error {
	if err := b.Configure(ctx, "config-leader-election", map[string]string{"buckets": fmt.Sprint(buckets)}); err != nil {
		return err
	}
	for _, how := range []struct {
		name string
		end  func(*controller) error
		goal float64
	}{
		{"one of two replicas is stopped", (*controller).Stop, stopGoal},
		{"one of two replicas is killed", func(c *controller) error { c.Kill(); return nil }, killGoal},
	} {
		for range b.rounds() {
			longest, err := b.handOver(ctx, how.end)
			if err != nil {
				return fmt.Errorf("%s: %w", how.name, err)
			}
			b.logf("%s: the longest wait for a driver is %s", how.name, longest.Round(time.Millisecond))
			b.Add(partHandover, how.name, "longest wait for a driver", "s", longest.Seconds()).Below(how.goal)
		}
	}
	return nil
}

// handOver ends a replica, and creates applications until the other one leads all buckets. It returns the longest time from an
// application's creation to its driver.
func (b *bench) handOver(ctx context.Context, end func(*controller) error) (longest time.Duration, err error) {
	replicas, err := b.startReplicas(ctx, 2)
	defer func() {
		for _, c := range replicas {
			c.Kill()
		}
	}()
	if err != nil {
		return 0, err
	}
	if err := b.untilWorking(ctx); err != nil {
		return 0, err
	}
	workload, err := b.newWorkload(ctx, apacheKind, ends, nil)
	if err != nil {
		return 0, err
	}
	defer workload.close()
	if err := end(replicas[0]); err != nil {
		return 0, err
	}
	var names []string
	created := map[string]time.Time{}
	tick := time.NewTicker(createEvery)
	defer tick.Stop()
	for leaders := 2; leaders > 1; {
		name := namesFrom(len(names), 1)
		created[name[0]] = time.Now()
		if err := workload.create(ctx, name); err != nil {
			return 0, err
		}
		names = append(names, name...)
		if leaders, err = b.leaders(ctx); err != nil {
			return 0, err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
	if _, err := workload.untilAll(ctx, names, finished); err != nil {
		return 0, fmt.Errorf("%w\n%s", err, replicas[1].Tail(20))
	}
	for _, name := range names {
		longest = max(longest, workload.progressOf(name).at[launched].Sub(created[name]))
	}
	if err := workload.remove(ctx, names); err != nil {
		return 0, err
	}
	return longest, b.untilEmpty(ctx, workload.namespace)
}

// leaders is the number of replicas that lead buckets; 2 while some are led by none.
func (b *bench) leaders(ctx context.Context) (int, error) {
	led, err := b.led(ctx)
	total := 0
	for _, held := range led {
		total += held
	}
	if total < buckets {
		return 2, err
	}
	return len(led), err
}
