// Package schedule is the handler that starts scheduled runs when they are due, according to the concurrency policy. It also deletes the
// runs beyond the schedule's history limits.
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
	"github.com/firesteel-dev/firesteel/pkg/schedules"
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

// NewHandler creates the handler. It uses only the event's source, and decides from the schedule that it reads. So a duplicate, late or
// forged event starts nothing.
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
		k := schedules.Of(object)
		if k == nil {
			return nil
		}
		return lookup.RetryOnConflict(func() error { return h.handle(ctx, k, object) })
	}
}

// task holds a schedule as it was read, and the decision about it.
type task struct {
	kind     *variant.Kind
	schedule variant.Schedule
	readAt   time.Time
	policy   schedule.Policy
	decision schedule.Decision
}

func (t *task) record() *v1alpha1.ScheduleRecord { return t.decision.Record }

func (t *task) key() types.NamespacedName { return kube.KeyOf(t.schedule) }

func (h *handler) handle(ctx context.Context, k *variant.Kind, object events.Object) error {
	t, err := h.read(ctx, k, object)
	if t == nil || err != nil {
		return err
	}
	if !t.decision.Due.IsZero() {
		if err := h.startOrHold(ctx, t); err != nil {
			return err
		}
	}
	return h.prune(ctx, t)
}

// read reads the schedule from the API server. It returns nil if there is nothing to do:
//   - The schedule does not exist or is being deleted.
//   - It cannot be decoded, or its record has a newer format.
//   - It has no record yet.
//   - It belongs to another installation.
func (h *handler) read(ctx context.Context, k *variant.Kind, object events.Object) (*task, error) {
	now := h.clock.Now()
	s, err := schedules.Client(k, h.client, object.Namespace).Get(ctx, object.Name)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read schedule %s: %w", object.Key(), err)
	case s.GetUID() != object.UID, s.GetUndecodable() != "", s.GetDeletionTimestamp() != nil,
		s.GetScheduleStatus().Firesteel == nil, s.GetScheduleStatus().Firesteel.HasNewerFormat():
		return nil, nil
	}
	if served, err := lookup.Serves(ctx, h.settings().Scope, h.namespaces, s); err != nil || !served {
		return nil, err
	}
	policy := k.PolicyOf(s, now)
	return &task{kind: k, schedule: s, readAt: now, policy: policy, decision: schedule.Decide(s, policy, now)}, nil
}

// startOrHold starts the run that is due, or holds it while other runs are active.
func (h *handler) startOrHold(ctx context.Context, t *task) error {
	running, err := h.activeRuns(ctx, t)
	switch {
	case err != nil:
		return err
	case len(running) == 0:
		return h.startRun(ctx, t)
	}
	if t.policy.Concurrency == v1alpha1.ConcurrencyReplace {
		for _, run := range running {
			if err := h.deleteRun(ctx, t, run); err != nil {
				return err
			}
		}
	}
	return h.recordHeld(ctx, t)
}

// activeRuns returns the active runs that must end before the next one starts. It reads them from the API server.
func (h *handler) activeRuns(ctx context.Context, t *task) ([]metav1.Object, error) {
	if t.policy.Concurrency == v1alpha1.ConcurrencyAllow {
		return nil, nil
	}
	var running []metav1.Object
	wanted := schedule.RunName(t.schedule.GetName(), t.decision.Due)
	for _, reference := range t.record().Active {
		if reference.Name == wanted {
			continue
		}
		run, err := h.readRun(ctx, t, reference)
		if err != nil {
			return nil, err
		}
		if run != nil && variant.RunOf(run).State == schedule.RunActive {
			running = append(running, run)
		}
	}
	return running, nil
}

// readRun reads a run. It returns nil if the run does not exist any more.
func (h *handler) readRun(ctx context.Context, t *task, reference v1alpha1.RunReference) (metav1.Object, error) {
	key := types.NamespacedName{Namespace: t.schedule.GetNamespace(), Name: reference.Name}
	run, err := schedules.Run(ctx, t.kind, h.client, key)
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

// deleteRun deletes a run, with its uid as precondition.
func (h *handler) deleteRun(ctx context.Context, t *task, run metav1.Object) error {
	if run.GetDeletionTimestamp() != nil {
		return nil
	}
	uid, propagation := run.GetUID(), metav1.DeletePropagationBackground
	err := h.dynamic.Resource(t.kind.RunsResource()).Namespace(run.GetNamespace()).Delete(ctx, run.GetName(), metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &uid}, PropagationPolicy: &propagation,
	})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("delete run %s/%s: %w", run.GetNamespace(), run.GetName(), err)
	}
	return nil
}

// recordHeld records that the run waits for other runs. When those have ended, the controller requests this handler again.
func (h *handler) recordHeld(ctx context.Context, t *task) error {
	held := &v1alpha1.HeldRun{ScheduledTime: metav1.NewTime(t.decision.Due), Policy: t.policy.Concurrency}
	if recorded := t.record().Held; recorded != nil { // of the same instant, since only that is stored
		if recorded.Policy == held.Policy {
			return nil
		}
		held.Unknown = recorded.Unknown
	}
	t.record().Held = held
	return h.writeStatus(ctx, t)
}

// writeStatus writes the record, with the status that follows from it.
func (h *handler) writeStatus(ctx context.Context, t *task) error {
	t.schedule.GetScheduleStatus().Firesteel = t.record()
	t.decision = schedule.Decide(t.schedule, t.policy, t.readAt)
	schedule.Project(t.schedule, t.policy, t.decision, "", h.clock.Now())
	stored, err := schedules.Client(t.kind, h.client, t.schedule.GetNamespace()).UpdateStatus(ctx, t.schedule)
	if err != nil {
		return fmt.Errorf("write status of schedule %s: %w", t.key(), err)
	}
	t.schedule = stored
	return nil
}

// prune deletes the runs beyond the history limits. It reads each one first, and skips it if it is active.
func (h *handler) prune(ctx context.Context, t *task) error {
	for _, reference := range slices.Clone(t.record().Surplus) {
		run, err := h.readRun(ctx, t, reference)
		if err != nil {
			return err
		}
		if run == nil || variant.RunOf(run).State == schedule.RunActive {
			continue
		}
		if err := h.deleteRun(ctx, t, run); err != nil {
			return err
		}
	}
	return nil
}
