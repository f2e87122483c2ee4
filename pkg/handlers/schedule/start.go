package schedule

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/handlers/lookup"
	"github.com/firesteel-dev/firesteel/pkg/kube/apierror"
	"github.com/firesteel-dev/firesteel/pkg/redact"
	"github.com/firesteel-dev/firesteel/pkg/schedule"
	"github.com/firesteel-dev/firesteel/pkg/schedule/variant"
	"github.com/firesteel-dev/firesteel/pkg/schedules"
)

// maxReadAge is how old the read of a schedule may be when its run is created. After a longer time, another process may have created
// the same run, and that run may have ended and be deleted. Then its name would be free, and the run would start twice.
const maxReadAge = 10 * time.Second

var errStaleRead = errors.New("the schedule was read too long ago to create its run: it is read again")

// startRun creates the run and records it. If the run exists but is not recorded, startRun records it as if it had just been created.
func (h *handler) startRun(ctx context.Context, t *task) error {
	if err := h.recordBegun(ctx, t); err != nil {
		return err
	}
	due := t.decision.Due
	outcome := v1alpha1.ScheduledRun{
		ScheduledTime: metav1.NewTime(due), Name: schedule.RunName(t.schedule.GetName(), due),
	}
	wanted, err := t.kind.NewRun(t.schedule, due)
	var run *unstructured.Unstructured
	if err == nil {
		ctx, cancel := context.WithDeadline(ctx, t.readAt.Add(maxReadAge))
		defer cancel()
		run, outcome.Message, err = h.createRun(ctx, t, wanted)
	} else {
		err = refusedError{reason: schedule.ReasonRefused, error: err}
	}
	var refused refusedError
	switch {
	case errors.As(err, &refused):
		outcome.Reason, outcome.Message = refused.reason, refused.Error()
	case err != nil:
		return err
	default:
		outcome.UID = run.GetUID()
	}
	outcome.Message = redactedMessage(t, wanted, outcome.Message)
	outcome.StartedAt = metav1.NewMicroTime(h.clock.Now())
	return h.recordOutcome(ctx, t, outcome)
}

// redactedMessage removes the secrets of a run from a message. run is nil if the template is invalid.
func redactedMessage(t *task, run *unstructured.Unstructured, message string) string {
	if message == "" {
		return ""
	}
	var template any = t.schedule
	if run != nil {
		template = run
	}
	text, err := json.Marshal(template)
	if err != nil {
		return redact.Text(message)
	}
	return redact.For(text).Text(message)
}

// recordBegun records that the run is about to be created, unless the policy allows concurrent runs. No later run is due until the
// created run is recorded, however long the creation takes. A run that was begun before continues if there is enough time left.
func (h *handler) recordBegun(ctx context.Context, t *task) error {
	if t.policy.Concurrency == v1alpha1.ConcurrencyAllow {
		return nil
	}
	if recorded := t.record().Begun; recorded != nil {
		if t.readAt.Sub(recorded.At.Time) > schedule.BegunTimeout-maxReadAge {
			return errStaleRead
		}
		return nil
	}
	schedule.RecordBegun(t.record(), t.decision.Due, t.readAt)
	return h.writeStatus(ctx, t)
}

// refusedError is an error that a retry cannot fix.
type refusedError struct {
	error
	reason string
}

// createRun creates the run, or finds the existing one. It returns a warning if the API server drops fields of the template.
func (h *handler) createRun(
	ctx context.Context, t *task, run *unstructured.Unstructured,
) (created *unstructured.Unstructured, warning string, err error) {
	if h.clock.Since(t.readAt) > maxReadAge {
		return nil, "", errStaleRead
	}
	runs := h.dynamic.Resource(t.kind.RunsResource()).Namespace(run.GetNamespace())
	created, err = runs.Create(ctx, run, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict})
	if unknownFields(err) {
		warning = "The API server dropped fields of the template: " + err.Error()
		created, err = runs.Create(ctx, run, metav1.CreateOptions{FieldValidation: metav1.FieldValidationIgnore})
	}
	switch {
	case err == nil:
		return created, warning, nil
	case apierrors.IsAlreadyExists(err):
		created, err = h.findRun(ctx, t, run)
		return created, "", err
	case isFinal(err):
		// The response to an earlier create may have been lost: the API server checks quotas and policies before names.
		found, lookErr := h.findRun(ctx, t, run)
		if apierrors.IsNotFound(lookErr) {
			return nil, "", refusedError{reason: schedule.ReasonRefused, error: err}
		}
		return found, "", lookErr
	default:
		return nil, "", fmt.Errorf("create run %s/%s: %w", run.GetNamespace(), run.GetName(), err)
	}
}

// unknownFields reports whether the API server would prune fields.
func unknownFields(err error) bool {
	return apierrors.IsBadRequest(err) && strings.Contains(err.Error(), "strict decoding error")
}

// isFinal reports whether the API server will refuse the same application again. The reason may change until the next run, but
// hardly within seconds.
func isFinal(err error) bool { return apierror.IsTerminal(err) || apierrors.IsNotFound(err) }

// findRun reads the application with the run's name. It returns an error if that is not the run.
func (h *handler) findRun(ctx context.Context, t *task, run *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	found, err := h.dynamic.Resource(t.kind.RunsResource()).Namespace(run.GetNamespace()).Get(ctx, run.GetName(), metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("read run %s/%s: %w", run.GetNamespace(), run.GetName(), err)
	}
	runs := []schedule.Run{variant.RunOf(found)}
	claim := schedule.DropUnprovenInstants(t.schedule, t.policy, runs, h.clock.Now())[0]
	switch {
	case claim.Instant.Equal(t.decision.Due):
		return found, nil
	case found.GetDeletionTimestamp() != nil:
		return nil, fmt.Errorf("application %s/%s has the run's name and is being deleted", run.GetNamespace(), run.GetName())
	default:
		return nil, refusedError{
			reason: schedule.ReasonNameTaken,
			error:  fmt.Errorf("an application named %s exists that is no run of this schedule; delete it", run.GetName()),
		}
	}
}

// recordOutcome records the run of an instant. It does so even if the schedule was suspended or edited meanwhile, since the run exists.
// The instant may count as missed by then, if the next one has come. If another run was recorded for the same instant, it deletes its own.
func (h *handler) recordOutcome(ctx context.Context, t *task, outcome v1alpha1.ScheduledRun) error {
	schedule.RecordRun(t.record(), outcome)
	err := h.writeStatus(ctx, t)
	if !apierrors.IsConflict(err) {
		return err
	}
	return lookup.RetryOnConflict(func() error {
		current, err := h.read(ctx, t.kind, schedules.Object(t.kind, t.schedule))
		if current == nil || err != nil {
			return err
		}
		// This is the stored record. Only the controller decides what a new spec changes in it.
		current.decision.Record = current.schedule.GetScheduleStatus().Firesteel.DeepCopy()
		if !schedule.Settled(current.record(), outcome.ScheduledTime.Time) {
			schedule.RecordRun(current.record(), outcome)
		} else if !schedule.RecordLateRun(current.record(), outcome) {
			return h.deleteSuperseded(ctx, current, outcome)
		}
		return h.writeStatus(ctx, current)
	})
}

// deleteSuperseded deletes a run if another one is recorded for its instant.
func (h *handler) deleteSuperseded(ctx context.Context, t *task, outcome v1alpha1.ScheduledRun) error {
	last := t.record().Last
	if outcome.UID == "" || last == nil || last.UID == "" || last.UID == outcome.UID ||
		!last.ScheduledTime.Time.Equal(outcome.ScheduledTime.Time) {
		return nil
	}
	uid := types.UID(outcome.UID)
	err := h.dynamic.Resource(t.kind.RunsResource()).Namespace(t.schedule.GetNamespace()).Delete(ctx, outcome.Name,
		metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("take back run %s: %w", outcome.Name, err)
	}
	return nil
}
