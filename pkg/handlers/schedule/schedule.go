// Package schedule is the handler that starts the runs of schedules that are due, as their concurrency policy has it, and
// deletes those that their history limits leave over.
package schedule

import (
	"context"
	"fmt"
	"slices"
	"time"

	cloudevents "github.com/cloudevents/sdk-go/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/utils/clock"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/events"
	"github.com/firesteel-dev/firesteel/pkg/handlers/lookup"
	"github.com/firesteel-dev/firesteel/pkg/kube"
	"github.com/firesteel-dev/firesteel/pkg/schedule"
	"github.com/firesteel-dev/firesteel/pkg/schedule/variant"
)

// Name is the handler's name in config-handlers.
const Name = schedule.Handler

type handler struct {
	client     kube.Clients
	dynamic    dynamic.Interface
	settings   func() *config.Config
	namespaces lookup.Namespaces
	clock      clock.PassiveClock
}

// NewHandler makes the handler. The event only says which schedule to look at: what is due follows from the schedule as
// it is, so that a duplicate, late or forged event starts nothing.
func NewHandler(
	client kube.Clients, dynamic dynamic.Interface, settings func() *config.Config, namespaces lookup.Namespaces,
	clock clock.PassiveClock,
) events.Handler {
	h := &handler{client: client, dynamic: dynamic, settings: settings, namespaces: namespaces, clock: clock}
	return func(ctx context.Context, event cloudevents.Event) error {
		object, err := events.Identify(event)
		if err != nil {
			return err
		}
		k := variant.Of(object)
		if k == nil {
			return nil
		}
		return lookup.Anew(func() error { return h.answer(ctx, k, object) })
	}
}

// question is a schedule as it was read, and what is to be done about it.
type question struct {
	kind     *variant.Kind
	schedule variant.Schedule
	read     time.Time
	policy   schedule.Policy
	decision schedule.Decision
}

func (q *question) record() *v1alpha1.ScheduleRecord { return q.decision.Record }

func (q *question) key() types.NamespacedName {
	return types.NamespacedName{Namespace: q.schedule.GetNamespace(), Name: q.schedule.GetName()}
}

func (h *handler) answer(ctx context.Context, k *variant.Kind, object events.Object) error {
	q, err := h.read(ctx, k, object)
	if q == nil || err != nil {
		return err
	}
	if !q.decision.Due.IsZero() {
		if err := h.due(ctx, q); err != nil {
			return err
		}
	}
	return h.prune(ctx, q)
}

// read reads the schedule that an event is about, as it is now. There is none where there is nothing to act on: it is
// gone, going, cannot be decoded, is another installation's, has a record of a newer format, or nobody has looked at it.
func (h *handler) read(ctx context.Context, k *variant.Kind, object events.Object) (*question, error) {
	now := h.clock.Now()
	s, err := k.Schedules(h.client, object.Namespace).Get(ctx, object.Name)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read schedule %s: %w", object.Key(), err)
	case s.GetUID() != object.UID, s.GetUndecodable() != "", s.GetDeletionTimestamp() != nil,
		s.GetScheduleStatus().Firesteel == nil, s.GetScheduleStatus().Firesteel.Foreign():
		return nil, nil
	}
	if served, err := lookup.Serves(ctx, h.settings().Scope, h.namespaces, s); err != nil || !served {
		return nil, err
	}
	policy := k.PolicyOf(s, now)
	return &question{kind: k, schedule: s, read: now, policy: policy, decision: schedule.Decide(s, policy, now)}, nil
}

// due starts the run that is due, or has it wait for those that run.
func (h *handler) due(ctx context.Context, q *question) error {
	running, err := h.running(ctx, q)
	switch {
	case err != nil:
		return err
	case len(running) == 0:
		return h.start(ctx, q)
	}
	if q.policy.Concurrency == v1alpha1.ConcurrencyReplace {
		for _, run := range running {
			if err := h.delete(ctx, q, run); err != nil {
				return err
			}
		}
	}
	return h.hold(ctx, q)
}

// running are the runs that have to end before the next one starts, as they are now.
func (h *handler) running(ctx context.Context, q *question) ([]metav1.Object, error) {
	if q.policy.Concurrency == v1alpha1.ConcurrencyAllow {
		return nil, nil
	}
	var running []metav1.Object
	own := schedule.RunName(q.schedule.GetName(), q.decision.Due)
	for _, reference := range q.record().Active {
		if reference.Name == own {
			continue
		}
		run, err := h.run(ctx, q, reference)
		if err != nil {
			return nil, err
		}
		if run != nil && variant.RunOf(run).State == schedule.RunActive {
			running = append(running, run)
		}
	}
	return running, nil
}

// run reads a run; it is nil where it is gone.
func (h *handler) run(ctx context.Context, q *question, reference v1alpha1.RunReference) (metav1.Object, error) {
	key := types.NamespacedName{Namespace: q.schedule.GetNamespace(), Name: reference.Name}
	run, err := q.kind.Run(ctx, h.client, key)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read run %s: %w", key, err)
	case run.GetUID() != reference.UID:
		return nil, nil
	}
	return run, nil
}

// delete deletes a run that is as it was read.
func (h *handler) delete(ctx context.Context, q *question, run metav1.Object) error {
	if run.GetDeletionTimestamp() != nil {
		return nil
	}
	uid, propagation := run.GetUID(), metav1.DeletePropagationBackground
	err := h.dynamic.Resource(q.kind.RunsResource()).Namespace(run.GetNamespace()).Delete(ctx, run.GetName(), metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &uid}, PropagationPolicy: &propagation,
	})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("delete run %s/%s: %w", run.GetNamespace(), run.GetName(), err)
	}
	return nil
}

// hold records that the run waits for others, so that it is asked for again when those are gone.
func (h *handler) hold(ctx context.Context, q *question) error {
	held := &v1alpha1.HeldRun{ScheduledTime: metav1.NewTime(q.decision.Due), Policy: q.policy.Concurrency}
	if before := q.record().Held; before != nil { // for the same instant: others are not kept
		if before.Policy == held.Policy {
			return nil
		}
		held.Unknown = before.Unknown
	}
	q.record().Held = held
	return h.write(ctx, q)
}

// write writes the record, and the status as it is with that.
func (h *handler) write(ctx context.Context, q *question) error {
	q.schedule.GetScheduleStatus().Firesteel = q.record()
	q.decision = schedule.Decide(q.schedule, q.policy, q.read)
	schedule.Project(q.schedule, q.policy, q.decision, "", h.clock.Now())
	stored, err := q.kind.Schedules(h.client, q.schedule.GetNamespace()).UpdateStatus(ctx, q.schedule)
	if err != nil {
		return fmt.Errorf("write status of schedule %s: %w", q.key(), err)
	}
	q.schedule = stored
	return nil
}

// prune deletes the runs that are kept no longer, where they still are as the record says: ended.
func (h *handler) prune(ctx context.Context, q *question) error {
	for _, reference := range slices.Clone(q.record().Surplus) {
		run, err := h.run(ctx, q, reference)
		if err != nil {
			return err
		}
		if run == nil || variant.RunOf(run).State == schedule.RunActive {
			continue
		}
		if err := h.delete(ctx, q, run); err != nil {
			return err
		}
	}
	return nil
}
