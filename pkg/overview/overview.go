package overview

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	firesteelv1alpha1 "github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/applications"
	"github.com/firesteel-dev/firesteel/pkg/check"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/outbox"
	"github.com/firesteel-dev/firesteel/pkg/redact"
	"github.com/firesteel-dev/firesteel/pkg/schedule/variant"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// Kind is the kind of an object, the same for all APIs.
type Kind string

// The kinds.
const (
	Application Kind = "application"
	Cluster     Kind = "cluster"
	Schedule    Kind = "schedule"
)

// Phase sums up the states of all APIs, for programs that wait and for colours.
type Phase string

// The phases.
const (
	// Waiting is before the driver runs, and between attempts.
	Waiting Phase = "waiting"
	// Running begins with the start of the driver. A schedule that starts runs is running, too.
	Running Phase = "running"
	// Succeeded and Failed are the end.
	Succeeded Phase = "succeeded"
	Failed    Phase = "failed"
)

// Object is an object of any kind.
type Object struct {
	Kind Kind
	// Source is the object as it was read. Typed is the same object, decoded.
	Source *unstructured.Unstructured
	Typed  check.Object
	// State is the state in the status; empty if it has none. Since is when the state began; zero if that is not known.
	State string
	Since time.Time
	Phase Phase
	// Reason and Message are those of the condition Succeeded, Ready or Scheduled; empty if the object does not have it.
	Reason, Message string
	// Attempt is the number of the attempt, from 0 as in the record; negative if there is none.
	Attempt int64
	// Record is status.firesteel. If another operator runs the object, it is made of that operator's status, and Inherited is true. It is nil for
	// schedules, and for an object without a status.
	Record    *firesteelv1alpha1.Record
	Inherited bool
	// DriverPod is the name of the driver Pod as far as the status names it.
	DriverPod string
	// Executors is the number of running executors in the status, or of a cluster's registered workers. ExecutorsKnown reports whether the status
	// has such a number.
	Executors      int
	ExecutorsKnown bool
	// Conditions are those of the status.
	Conditions []metav1.Condition

	api     *applications.API
	dialect dialect.Dialect
}

// Read reads an object. A spec that cannot be decoded is no error: the conditions of the object report it.
func Read(source *unstructured.Unstructured) (*Object, error) {
	encoded, err := source.MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("%s %s/%s cannot be read: %w", source.GetKind(), source.GetNamespace(), source.GetName(), err)
	}
	typed, err := check.Decode(encoded)
	if err != nil {
		return nil, fmt.Errorf("%s %s/%s cannot be read: %w", source.GetKind(), source.GetNamespace(), source.GetName(), err)
	}
	o := &Object{Source: source, Typed: typed, Attempt: -1, Phase: Waiting}
	switch typed := typed.(type) {
	case *sparkv1.SparkCluster:
		o.readCluster(typed)
	case variant.Schedule:
		o.readSchedule(*typed.GetScheduleStatus())
	case dialect.Application:
		o.readApplication(typed)
	}
	return o, nil
}

// Name returns the name of the object.
func (o *Object) Name() string { return o.Source.GetName() }

// Namespace returns the namespace of the object.
func (o *Object) Namespace() string { return o.Source.GetNamespace() }

// StateName returns the state for people: New if the status shows none.
func (o *Object) StateName() string { return cmp.Or(o.State, noState) }

// Ended reports whether it is an application whose attempt has ended. Another attempt may follow: see Over.
func (o *Object) Ended() bool {
	return o.Kind == Application && (o.Phase == Succeeded || o.Phase == Failed)
}

// Over reports whether it is an application that has ended, and no attempt follows.
func (o *Object) Over() bool {
	end := outbox.LastEnd(o.Record)
	return o.Ended() && (lifecycle.CurrentState(o.Record).Terminated() || end != nil && !end.End.RestartAllowed)
}

// Group returns the group of the object's API.
func (o *Object) Group() string { return o.Source.GroupVersionKind().Group }

func (o *Object) readApplication(app dialect.Application) {
	o.Kind = Application
	o.api = applications.All(nil)[o.Group()]
	o.dialect = o.api.Dialect(config.Default())
	o.State, o.Conditions = o.dialect.VisibleState(app), app.GetConditions()
	o.Record = app.GetRecord()
	if o.Record == nil && o.dialect.HasForeignStatus(app) {
		if inherited, err := o.dialect.Inherit(app); err == nil {
			o.Record, o.Inherited = inherited, true
		}
	}
	if c := meta.FindStatusCondition(o.Conditions, dialect.ConditionSucceeded); c != nil {
		o.Reason, o.Message = c.Reason, c.Message
	}
	o.Phase = phaseOf(o.Record)
	if o.Record != nil {
		current := outbox.Current(o.Record)
		o.Attempt, o.Since, o.DriverPod = o.Record.Attempt.ID, current.Time.Time, current.DriverPod
		if launch := o.Record.Launch; launch != nil {
			o.DriverPod = launch.DriverPod
		}
	}
	o.DriverPod = cmp.Or(o.DriverPod, o.shown("driverInfo", "podName"))
	o.Message = cmp.Or(o.Message, o.shown("applicationState", "errorMessage"), o.shown("currentState", "message"))
	executors, _, _ := unstructured.NestedFieldNoCopy(o.Source.Object, "status", "executorState") // the decoder reports what cannot be read
	if states, ok := executors.(map[string]any); ok && len(states) > 0 {
		o.ExecutorsKnown = true
		for _, state := range states {
			if state == "RUNNING" {
				o.Executors++
			}
		}
	}
}

// shown returns a text of the status; empty if there is none.
func (o *Object) shown(fields ...string) string {
	text, _, _ := unstructured.NestedString(o.Source.Object, append([]string{"status"}, fields...)...) // the decoder reports what cannot be read
	return text
}

// phaseOf returns the phase of an application.
func phaseOf(record *firesteelv1alpha1.Record) Phase {
	current := outbox.Current(record)
	state, end := lifecycle.State(current.State), outbox.LastEnd(record)
	switch {
	case state.Terminated() && end != nil && end.End.Outcome == firesteelv1alpha1.OutcomeSucceeded, state == lifecycle.Succeeded:
		return Succeeded
	case state.Terminated(), state.Failure() && end != nil && !end.End.RestartAllowed:
		return Failed
	case state.DriverRuns(), state == lifecycle.Unknown, state == lifecycle.Suspending:
		return Running
	default:
		return Waiting
	}
}

// Phases returns the phase after each transition of a record.
func Phases(record *firesteelv1alpha1.Record) []Phase {
	phases := make([]Phase, len(record.Transitions))
	for i, t := range record.Transitions {
		phases[i] = phaseOf(&firesteelv1alpha1.Record{Attempt: firesteelv1alpha1.Attempt{ID: t.Attempt}, Transitions: record.Transitions[:i+1]})
	}
	return phases
}

func (o *Object) readCluster(c *sparkv1.SparkCluster) {
	o.Kind, o.Record, o.Conditions = Cluster, c.Status.Firesteel, c.Status.Conditions
	if c.Status.CurrentState != nil {
		o.State, o.Message = c.Status.CurrentState.CurrentStateSummary, c.Status.CurrentState.Message
	}
	if c.Status.CurrentAttemptSummary != nil && c.Status.CurrentAttemptSummary.AttemptInfo != nil {
		o.Attempt = c.Status.CurrentAttemptSummary.AttemptInfo.ID
	}
	if o.Record != nil {
		o.Since = outbox.Current(o.Record).Time.Time
	}
	if c.Status.Workers != nil {
		o.Executors, o.ExecutorsKnown = int(c.Status.Workers.Registered), true
	}
	switch {
	case o.State == "RunningHealthy":
		o.Phase = Running
	case strings.Contains(o.State, "Fail"):
		o.Phase = Failed
	case lifecycle.State(o.State).Terminated():
		o.Phase = phaseOf(o.Record)
	}
	o.setReason("Ready")
}

func (o *Object) readSchedule(s firesteelv1alpha1.ScheduleStatus) {
	o.Kind, o.State, o.Conditions, o.Message = Schedule, string(s.ScheduleState), s.Conditions, s.Reason
	switch s.ScheduleState {
	case firesteelv1alpha1.ScheduleStateScheduled:
		o.Phase = Running
	case firesteelv1alpha1.ScheduleStateFailedValidation:
		o.Phase = Failed
	}
	o.setReason("Scheduled")
}

// setReason takes reason and message from a condition, if the object has it.
func (o *Object) setReason(kind string) {
	if c := meta.FindStatusCondition(o.Conditions, kind); c != nil {
		o.Reason, o.Message = c.Reason, c.Message
	}
}

// ShortReason returns the reason if it says more than the state.
func (o *Object) ShortReason() string {
	if o.Reason == o.State {
		return ""
	}
	return o.Reason
}

// AskedExecutors returns how many executors the current attempt of an application asks for at its start, and how many at most, if dynamic
// allocation has such a limit. Both are zero if nothing can be submitted.
func (o *Object) AskedExecutors() (first, most int64) {
	app, ok := o.Typed.(dialect.Application)
	if !ok || app.GetUndecodable() != "" {
		return 0, 0
	}
	attempt := firesteelv1alpha1.Attempt{}
	if o.Record != nil {
		attempt = o.Record.Attempt
	}
	plan, err := o.dialect.Plan(app, attempt)
	if err != nil {
		return 0, 0
	}
	property := func(key string) string { return plan.Properties[key] }
	if dialect.WantedExecutors(property, submission.DefaultExecutors) == 0 && !submission.DynamicAllocation(property) {
		return 0, 0 // the driver runs alone
	}
	planned, err := submission.PlannedExecutors(plan)
	if err != nil {
		return 0, 0
	}
	return planned.Count, submission.MostExecutors(plan)
}

// AskedWorkers returns how many workers a cluster asks for; zero for other objects.
func (o *Object) AskedWorkers() int {
	if c, ok := o.Typed.(*sparkv1.SparkCluster); ok {
		return int(c.Spec.ClusterTolerations.InstanceConfig.InitWorkers)
	}
	return 0
}

// Redactor removes the secrets of the object from texts.
func (o *Object) Redactor() *redact.Redactor {
	encoded, err := json.Marshal(map[string]any{"spec": o.Source.Object["spec"]})
	if err != nil {
		return nil
	}
	return redact.For(encoded)
}

// StatusWriter returns the field manager that last wrote the status; empty if none is known.
func (o *Object) StatusWriter() string {
	var last metav1.ManagedFieldsEntry
	for _, entry := range o.Source.GetManagedFields() {
		ofStatus := entry.Subresource == "status" || entry.FieldsV1 != nil && strings.Contains(string(entry.FieldsV1.Raw), `"f:status"`)
		if ofStatus && (last.Time == nil || entry.Time != nil && last.Time.Before(entry.Time)) {
			last = entry
		}
	}
	return last.Manager
}
