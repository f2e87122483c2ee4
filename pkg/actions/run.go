package actions

import (
	"context"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/schedule"
	"github.com/firesteel-dev/firesteel/pkg/schedule/variant"
)

// ActiveError reports that runs are active, and the schedule allows one only.
type ActiveError struct{ message string }

func (e *ActiveError) Error() string { return e.message }

// Run plans a run of a schedule. concurrent starts it although other runs are active, and the schedule allows one only.
func Run(s *Subject, concurrent bool, now time.Time) (*Plan, error) {
	scheduled, ok := s.View.Typed.(variant.Schedule)
	if !ok || scheduled.GetUndecodable() != "" {
		return nil, fmt.Errorf("%s cannot be read: %s says why", s.Reference(), s.Suggest("why"))
	}
	if active := activeRuns(scheduled); len(active) > 0 && !concurrent {
		return nil, &ActiveError{fmt.Sprintf("%s allows one run at a time (concurrencyPolicy: %s), and %s has not ended",
			s.Reference(), scheduled.GetSchedule().ConcurrencyPolicy, strings.Join(active, ", "))}
	}
	run, err := NewRun(s.Object, scheduled, now)
	if err != nil {
		return nil, err
	}
	return &Plan{
		Effect: "An application is created from the template of the schedule, now. It counts as a run of the schedule. The next run starts as if there had been none.",
		Done:   "created", Creates: run, do: func(ctx context.Context, client dynamic.Interface, options WriteOptions) (*Object, error) {
			created, err := Create(ctx, client, Creation{
				Resource: run.Resource, Object: run.Unstructured, Options: metav1.CreateOptions{DryRun: options.DryRun}, IsOurs: ByName,
			})
			if apierrors.IsAlreadyExists(err) {
				return nil, fmt.Errorf("%s was started this second: it is the run", run.Reference())
			}
			return &Object{created, run.Resource}, err
		},
	}, nil
}

// NewRun returns the run of a schedule that is started by hand.
func NewRun(found *Object, s variant.Schedule, now time.Time) (*Object, error) {
	kind := variant.KindOf(s)
	run, err := kind.NewRun(s, instantOf(kind.PolicyOf(s, now), now))
	if err != nil {
		return nil, fmt.Errorf("%s has a template that cannot be used: %w", found.Reference(), err)
	}
	run.SetFinalizers(nil) // it keeps a run until its schedule has recorded the instant: this one stands for none
	return &Object{Unstructured: run, Resource: kind.RunsResource()}, nil
}

// activeRuns returns the runs that must end before another starts, as far as the schedule knows them.
func activeRuns(s variant.Schedule) (names []string) {
	record := s.GetScheduleStatus().Firesteel
	switch s.GetSchedule().ConcurrencyPolicy {
	case v1alpha1.ConcurrencyForbid, v1alpha1.ConcurrencyReplace:
	default:
		return nil
	}
	if record == nil {
		return nil
	}
	for _, run := range record.Active {
		names = append(names, run.Name)
	}
	return names
}

// instantOf returns the instant by which a run is named that is started by hand: the present second or, if the schedule has a run then, the
// last one before it without.
func instantOf(policy schedule.Policy, now time.Time) time.Time {
	instant := now.UTC().Truncate(time.Second)
	const most = 60 // a schedule may fire each second
	for range most {
		if policy.Clock == nil || !policy.Clock.Fires(instant) {
			break
		}
		instant = instant.Add(-time.Second)
	}
	return instant
}
