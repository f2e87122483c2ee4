package chaos

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/test/harness/witness"
)

// witness records in the history all that happens on the API server from now on, until blind is called. It creates the executors of
// running drivers.
func (w *env) witness(ctx context.Context) error {
	ctx, w.blind = context.WithCancel(ctx)
	lost := func() { w.supervisor.Violate("a witness lost sight of the API server: the run proves nothing") }
	executors := newExecutors(w)
	return errors.Join(
		witness.Applications(ctx, w.Spark, w.history, func() bool {
			lost()
			return false
		}),
		witness.Drivers(ctx, w.Kube, w.history, func(pod *corev1.Pod) { executors.see(ctx, pod) }, lost),
	)
}

// listen records in the history what reached the sink, until the context ends, and counts the faults of the sink.
func (w *env) listen(ctx context.Context) error {
	ticker := time.NewTicker(poll)
	defer ticker.Stop()
	for {
		entries, err := w.eventlog.Read()
		for _, entry := range entries {
			w.history.SawEvent(entry)
			if entry.Fault != "" {
				w.counters.count("sink " + entry.Fault)
			}
			w.lately.remember(entry)
		}
		if err != nil {
			return fmt.Errorf("read the sink's event log: %w", err)
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return ignore(ctx.Err(), func(err error) bool { return errors.Is(err, context.Canceled) })
		}
	}
}
