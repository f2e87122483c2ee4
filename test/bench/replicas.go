package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/firesteel-dev/firesteel/test/harness/firesteel"
)

const (
	partReplicas = "replicas"
	// buckets is the number of shares that replicas divide applications into.
	buckets = 10
)

// shared is the number of applications that replicas share: half as many show it as well.
func (b *bench) shared() int { return max(b.count/2, 1) }

// measureReplicas is the part that has two controllers share the applications.
func (b *bench) measureReplicas(ctx context.Context) error {
	if err := b.Configure(ctx, "config-leader-election", map[string]string{"buckets": fmt.Sprint(buckets)}); err != nil {
		return err
	}
	var one [reported]float64
	for _, count := range []int{1, 2} {
		p, cpu, err := b.runReplicas(ctx, count)
		if err != nil {
			return err
		}
		of := fmt.Sprintf("%d replicas", count)
		b.logf("%s: %s", of, p)
		if count == 1 {
			one = p.rates(b.shared())
		}
		for s, value := range p.rates(b.shared()) {
			figure := b.Add(partReplicas, of, stageNames[s], rate, value)
			figure.Higher = true
			if count > 1 {
				figure.Against(one[s])
			}
		}
		for i, busy := range cpu {
			b.Add(partReplicas, of, fmt.Sprintf("CPU of controller %d", i+1), "ms/application", milliseconds(busy)/float64(b.shared()))
		}
	}
	return nil
}

func (b *bench) runReplicas(ctx context.Context, count int) (stageTimes, []time.Duration, error) {
	replicas, err := b.startReplicas(ctx, count)
	defer func() {
		for _, c := range replicas {
			c.Kill()
		}
	}()
	if err != nil {
		return stageTimes{}, nil, err
	}
	if err := b.untilWorking(ctx); err != nil {
		return stageTimes{}, nil, err
	}
	workload, err := b.newWorkload(ctx, apacheKind, ends, nil)
	if err != nil {
		return stageTimes{}, nil, err
	}
	cpu := make([]time.Duration, count)
	for i, c := range replicas {
		if cpu[i], err = c.CPU(); err != nil {
			return stageTimes{}, nil, err
		}
	}
	p, err := workload.run(ctx, b.shared())
	if err != nil {
		return p, nil, fmt.Errorf("%w\n%s", err, replicas[0].Tail(20))
	}
	for i, c := range replicas {
		now, err := c.CPU()
		if err != nil {
			return p, nil, err
		}
		cpu[i] = now - cpu[i]
	}
	return p, cpu, nil
}

const (
	// elections is how often replicas are started until each leads something.
	elections = 10
	// electionTime is how long an election may take.
	electionTime = time.Minute
	// unheld is the holder of the expired leases, which is no replica.
	unheld = "unheld"
)

// startReplicas starts controllers until each of them leads some buckets.
func (b *bench) startReplicas(ctx context.Context, count int) ([]*controller, error) {
	var led map[string]int
	for range elections {
		if err := b.expireLeases(ctx); err != nil {
			return nil, err
		}
		var replicas []*controller
		for range count {
			c, err := b.launchController(ctx, setup{replica: true})
			if err != nil {
				return replicas, err
			}
			replicas = append(replicas, c)
		}
		err := wait.PollUntilContextTimeout(ctx, poll, electionTime, true, func(context.Context) (done bool, err error) {
			led, err = b.led(ctx)
			total := 0
			for _, held := range led {
				total += held
			}
			return total == buckets, err
		})
		if err != nil {
			return replicas, fmt.Errorf("wait for %d buckets to be led, of which %v are: %w", buckets, led, err)
		}
		b.logf("buckets led: %v", led)
		if len(led) == count {
			return replicas, nil
		}
		for _, c := range replicas {
			c.Kill()
		}
	}
	return nil, fmt.Errorf("%d replicas do not share the buckets: %v", count, led)
}

// expireLeases has the leases end at once that replicas left that were killed. They are not deleted: who starts first would
// take all that no replica ever held, while all wait for those that are held, each for a time of its own.
func (b *bench) expireLeases(ctx context.Context) error {
	leases := b.Kube.CoordinationV1().Leases(firesteel.SystemNamespace)
	left, err := leases.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	holder, second, now := unheld, int32(1), metav1.NowMicro()
	for _, lease := range left.Items {
		lease.Spec.HolderIdentity, lease.Spec.LeaseDurationSeconds, lease.Spec.RenewTime = &holder, &second, &now
		if _, err := leases.Update(ctx, &lease, metav1.UpdateOptions{}); err != nil {
			return err
		}
	}
	return nil
}

// led is how many buckets of Apache applications each replica leads.
func (b *bench) led(ctx context.Context) (map[string]int, error) {
	leases, err := b.Kube.CoordinationV1().Leases(firesteel.SystemNamespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	led := map[string]int{}
	for _, lease := range leases.Items {
		if holder := lease.Spec.HolderIdentity; strings.Contains(lease.Name, ".sparkapplication.") && holder != nil && *holder != "" && *holder != unheld {
			led[*holder]++
		}
	}
	return led, nil
}
