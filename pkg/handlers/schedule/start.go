package schedule

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
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
)

// maxReadAge is how long after a schedule was read a run may be created for it. Beyond that another may have been created,
// have ended and be gone, and the name would be free again.
const maxReadAge = 10 * time.Second

var errStaleRead = errors.New("the run was begun with too long ago to be created now: the schedule is read again")

// startRun creates the run and records it. A run that exists already, and is recorded by nobody, is as good as one that was
// created just now.
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

// redactedMessage is a message that tells no secrets of a run; run is nil if the template cannot be made into one.
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

// recordBegun records that the run is about to be created, where no other may run beside it: however long the creation takes, no
// later instant is due before it is recorded. A run that was begun with before is gone on with, while there is time.
func (h *handler) recordBegun(ctx context.Context, t *task) error {
	if t.policy.Concurrency == v1alpha1.ConcurrencyAllow {
		return nil
	}
	if recorded := t.record().Begun; recorded != nil {
		if t.readAt.Sub(recorded.At.Time) > schedule.BegunHolds-maxReadAge {
			return errStaleRead
		}
		return nil
	}
	schedule.Begin(t.record(), t.decision.Due, t.readAt)
	return h.writeStatus(ctx, t)
}

// refusedError is an error that no repetition mends.
type refusedError struct {
	error
	reason string
}

// createRun creates the run, or finds it. What of the template is not taken is a warning.
func (h *handler) createRun(
	ctx context.Context, t *task, run *unstructured.Unstructured,
) (created *unstructured.Unstructured, warning string, err error) {
	if h.clock.Since(t.readAt) > maxReadAge {
		return nil, "", errStaleRead
	}
	runs := h.dynamic.Resource(t.kind.RunsResource()).Namespace(run.GetNamespace())
	created, err = runs.Create(ctx, run, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict})
	if unknownFields(err) {
		warning = "Of the template was not taken: " + err.Error()
		created, err = runs.Create(ctx, run, metav1.CreateOptions{FieldValidation: metav1.FieldValidationIgnore})
	}
	switch {
	case err == nil:
		return created, warning, nil
	case apierrors.IsAlreadyExists(err):
		created, err = h.findRun(ctx, t, run)
		return created, "", err
	case refusedForGood(err):
		// The answer to an earlier create may have been lost: quotas and policies are looked at before names.
		found, lookErr := h.findRun(ctx, t, run)
		if apierrors.IsNotFound(lookErr) {
			return nil, "", refusedError{reason: schedule.ReasonRefused, error: err}
		}
		return found, "", lookErr
	default:
		return nil, "", fmt.Errorf("create run %s/%s: %w", run.GetNamespace(), run.GetName(), err)
	}
}

// unknownFields says that the API server would prune fields.
func unknownFields(err error) bool {
	return apierrors.IsBadRequest(err) && strings.Contains(err.Error(), "strict decoding error")
}

// refusedForGood says that the API server will say no to the same application again. What forbids it may change, but by
// the time of the next run, rather than in seconds.
func refusedForGood(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return false
	}
	switch code := int(status.Status().Code); code {
	case http.StatusUnauthorized, http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests:
		return false
	default:
		return code >= 400 && code < 500 && !apierror.OwnerUnknown(err)
	}
}

// findRun reads the application that has the run's name: the run itself, or somebody else's.
func (h *handler) findRun(ctx context.Context, t *task, run *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	found, err := h.dynamic.Resource(t.kind.RunsResource()).Namespace(run.GetNamespace()).Get(ctx, run.GetName(), metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("read run %s/%s: %w", run.GetNamespace(), run.GetName(), err)
	}
	runs := []schedule.Run{variant.RunOf(found)}
	claim := schedule.Believe(t.schedule, t.policy, runs, h.clock.Now())[0]
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

// recordOutcome writes what became of an instant. It does so even where the schedule was suspended or edited meanwhile, since
// the run is there; and it takes a run back where another was recorded for the instant.
func (h *handler) recordOutcome(ctx context.Context, t *task, outcome v1alpha1.ScheduledRun) error {
	schedule.Start(t.record(), outcome)
	err := h.writeStatus(ctx, t)
	if !apierrors.IsConflict(err) {
		return err
	}
	return lookup.RetryOnConflict(func() error {
		current, err := h.read(ctx, t.kind, t.kind.Object(t.schedule))
		if current == nil || err != nil {
			return err
		}
		// As it is stored: what the new spec makes of it is the controller's to say.
		current.decision.Record = current.schedule.GetScheduleStatus().Firesteel.DeepCopy()
		if schedule.Settled(current.record(), outcome.ScheduledTime.Time) {
			return h.deleteSuperseded(ctx, current, outcome)
		}
		schedule.Start(current.record(), outcome)
		return h.writeStatus(ctx, current)
	})
}

// deleteSuperseded deletes a run where another is the one for its instant.
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
