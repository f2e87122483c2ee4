package events

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"time"

	cloudevents "github.com/cloudevents/sdk-go/v2"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
)

// TransitionData is the data of a transition's event. The doc tags are published as descriptions of the fields.
type TransitionData struct {
	Namespace     string `json:"namespace" doc:"The namespace of the object."`
	Name          string `json:"name" doc:"The name of the object."`
	UID           string `json:"uid" doc:"The uid of the object."`
	Kind          string `json:"kind" doc:"The kind of the object."`
	Attempt       int64  `json:"attempt" doc:"The attempt of the transition. The first is 0."`
	Sequence      int64  `json:"sequence" doc:"The number of the transition, counted for the object from 1 without gaps." minimum:"1"`
	State         string `json:"state" doc:"The lifecycle state that began."`
	Message       string `json:"message,omitempty" doc:"What happened, in words. A long text is cut. Secret values are redacted. The output of a failed driver is included only if failure-messages in config-events allows it."`
	DriverPod     string `json:"driverPod,omitempty" doc:"The name of the driver Pod."`
	ApplicationID string `json:"applicationID,omitempty" doc:"Spark's own id of the attempt, spark.app.id."`
	UIAddress     string `json:"uiAddress,omitempty" doc:"Where Spark's UI answers: a URL, or a host and a port. Only while the driver runs, and if there is a Service for its UI."`
	End           *End   `json:"end,omitempty" doc:"How and why the attempt ended. Only on the end of an attempt."`
	Usage         *Usage `json:"usage,omitempty" doc:"What was used. On the end of an attempt: by the attempt, until the driver's end. On the last transition: by all attempts."`
	Outcome       string `json:"outcome,omitempty" doc:"The final outcome: Succeeded, Failed, or Deleted before its end. Only on the last transition. If an edit of the spec runs the object again, another last transition follows." enum:"Succeeded,Failed,Deleted"`
}

// DecodeTransition decodes the data of a received transition's event. It returns a Permanent error for any other event, and for
// invalid data.
func DecodeTransition(event cloudevents.Event) (TransitionData, error) {
	return decode[TransitionData](event, false)
}

// DecodeClock decodes the data of a received clock event. It returns a Permanent error for any other event, and for invalid data.
func DecodeClock(event cloudevents.Event) (ClockData, error) {
	return decode[ClockData](event, true)
}

func decode[T any](event cloudevents.Event, clock bool) (data T, err error) {
	if eventType, ok := TypeByName(event.Type()); !ok || eventType.Clock() != clock {
		return data, Permanent(fmt.Errorf("event %.256q has type %.256q, which has no data of type %T", event.ID(), event.Type(), data))
	}
	if err := event.DataAs(&data); err != nil {
		return data, Permanent(fmt.Errorf("data of event %.256q: %w", event.ID(), err))
	}
	return data, nil
}

// End says how and why an attempt ended, in fields that a program can use.
type End struct {
	Outcome        string `json:"outcome" doc:"Succeeded or Failed." enum:"Succeeded,Failed"`
	RestartAllowed bool   `json:"restartAllowed" doc:"Whether the spec allows another attempt. If it does, a handler gives the verdict."`
	Class          string `json:"class,omitempty" doc:"The class of the failure: application, infrastructure, eviction, scheduling, timeout or stopped. Absent after success."`
	ExitCode       *int32 `json:"exitCode,omitempty" doc:"The exit code of the driver container."`
	Reason         string `json:"reason,omitempty" doc:"A word in CamelCase, from the container, the Pod or the API server."`
	Message        string `json:"message,omitempty" doc:"Why, in words. It can say more than the message of the transition."`
	Pod            string `json:"pod,omitempty" doc:"The driver Pod of the attempt."`
	Attempt        int64  `json:"attempt" doc:"The attempt that ended."`
}

// Usage says what Pods used: what they requested, for the time from their scheduling to the end of their containers.
type Usage struct {
	Driver        *PodUsage `json:"driver,omitempty" doc:"What driver Pods used."`
	Executors     *PodUsage `json:"executors,omitempty" doc:"What executor Pods used."`
	PeakExecutors int64     `json:"peakExecutors" doc:"How many executor Pods of one attempt ran at once, at most."`
	RunningPods   int64     `json:"runningPods" doc:"How many of the Pods had not ended. They are counted up to this moment."`
	GapSeconds    int64     `json:"gapSeconds" doc:"For how many seconds Pods may have run that are not counted, since no controller saw them, or saw their end."`
}

// PodUsage says what Pods used.
type PodUsage struct {
	Seconds          int64 `json:"seconds" doc:"The sum of the times of the Pods."`
	CoreMilliseconds int64 `json:"coreMilliseconds" doc:"Their requested CPU by time: 1000 for one core in one second."`
	MebibyteSeconds  int64 `json:"mebibyteSeconds" doc:"Their requested memory by time: 1024 for one GiB in one second."`
	GPUSeconds       int64 `json:"gpuSeconds" doc:"Their requested GPUs by time: 1 for one GPU in one second."`
}

// The limits of the texts in an event, in bytes of JSON. With them, an event stays below 8 KiB.
const (
	messageLimit       = 2048
	applicationIDLimit = 256
	wordLimit          = 128
	podLimit           = 253
	uiAddressLimit     = 512
)

// NewTransitionEvent creates the event of a transition, from the object's identity and the transition alone. So the same
// transition always gives an event with the same bytes.
func NewTransitionEvent(o Object, t v1alpha1.Transition) (cloudevents.Event, error) {
	eventType, ok := TypeForState(o.Kind, t.State)
	if !ok {
		return cloudevents.Event{}, fmt.Errorf("there is no event for state %.64q of a %s", t.State, o.Kind)
	}
	if err := validateTransition(t); err != nil {
		return cloudevents.Event{}, fmt.Errorf("transition %d: %w", t.Sequence, err)
	}
	event, err := newEvent(o, eventType, sequenceText(t.Sequence), t.Time.Time)
	if err != nil {
		return cloudevents.Event{}, err
	}
	setTransitionExtensions(&event, t)
	return withData(event, transitionData(o, t))
}

// validateTransition checks the values that become attributes, since anyone may have edited the status.
func validateTransition(t v1alpha1.Transition) error {
	switch {
	case t.Sequence < 1:
		return errors.New("the sequence must be at least 1")
	case t.End != nil && !isAttemptOutcome(t.End.Outcome):
		return fmt.Errorf("%.64q is not an outcome of an attempt", t.End.Outcome)
	case t.Final() && !isAttemptOutcome(t.Outcome) && t.Outcome != v1alpha1.OutcomeDeleted:
		return fmt.Errorf("%.64q is not an outcome of an object", t.Outcome)
	default:
		return nil
	}
}

// isAttemptOutcome reports whether an attempt can have the outcome. An object can also be deleted before its end.
func isAttemptOutcome(text string) bool {
	return text == v1alpha1.OutcomeSucceeded || text == v1alpha1.OutcomeFailed
}

func setTransitionExtensions(event *cloudevents.Event, t v1alpha1.Transition) {
	event.SetExtension(ExtensionSequence, sequenceText(t.Sequence))
	event.SetExtension(ExtensionState, t.State)
	event.SetExtension(ExtensionAttempt, strconv.FormatInt(t.Attempt, 10))
	if t.End != nil {
		event.SetExtension(ExtensionOutcome, t.End.Outcome)
		event.SetExtension(ExtensionRestartAllowed, strconv.FormatBool(t.End.RestartAllowed))
	}
	if t.Final() {
		event.SetExtension(ExtensionOutcome, t.Outcome)
		event.SetExtension(ExtensionFinal, "true")
	}
}

func transitionData(o Object, t v1alpha1.Transition) TransitionData {
	return TransitionData{
		Namespace:     o.Namespace,
		Name:          o.Name,
		UID:           string(o.UID),
		Kind:          o.Kind,
		Attempt:       t.Attempt,
		Sequence:      t.Sequence,
		State:         t.State,
		Message:       clip(message(t), messageLimit),
		DriverPod:     clip(t.DriverPod, podLimit),
		ApplicationID: clip(t.ApplicationID, applicationIDLimit),
		UIAddress:     clip(t.UIAddress, uiAddressLimit),
		End:           endData(t),
		Usage:         usageData(t),
		Outcome:       t.Outcome,
	}
}

// message returns the message of the event. It is the EventMessage of the end, if that is set.
func message(t v1alpha1.Transition) string {
	if t.End == nil {
		return t.Message
	}
	return cmp.Or(t.End.EventMessage, t.Message)
}

func endData(t v1alpha1.Transition) *End {
	if t.End == nil {
		return nil
	}
	return &End{
		Outcome:        t.End.Outcome,
		RestartAllowed: t.End.RestartAllowed,
		Class:          clip(t.End.Class, wordLimit),
		ExitCode:       t.End.ExitCode,
		Reason:         clip(t.End.Reason, wordLimit),
		Message:        clip(cmp.Or(t.End.EventMessage, t.End.Message), messageLimit),
		Pod:            clip(t.DriverPod, podLimit),
		Attempt:        t.Attempt,
	}
}

func usageData(t v1alpha1.Transition) *Usage {
	if t.Usage == nil {
		return nil
	}
	return &Usage{
		Driver: podUsage(t.Usage.Driver), Executors: podUsage(t.Usage.Executors),
		PeakExecutors: t.Usage.PeakExecutors, RunningPods: t.Usage.RunningPods, GapSeconds: t.Usage.GapSeconds,
	}
}

func podUsage(used *v1alpha1.PodUsage) *PodUsage {
	if used == nil {
		return nil
	}
	return &PodUsage{
		Seconds: used.Seconds, CoreMilliseconds: used.CoreMilliseconds, MebibyteSeconds: used.MebibyteSeconds, GPUSeconds: used.GPUSeconds,
	}
}

// sequenceText returns a zero-padded sequence, since consumers compare sequences as strings.
func sequenceText(sequence int64) string { return fmt.Sprintf("%010d", sequence) }

// eventID returns the id of an event. The suffix is unique for the object, and the uid makes the id unique for all objects.
func eventID(o Object, suffix string) string { return string(o.UID) + "." + suffix }

// newEvent returns an event without data. Its time has the precision of a record, so that the event is the same before and
// after the record is stored.
func newEvent(o Object, eventType Type, suffix string, at time.Time) (cloudevents.Event, error) {
	if err := o.validate(); err != nil {
		return cloudevents.Event{}, fmt.Errorf("invalid object: %w", err)
	}
	if at.IsZero() {
		return cloudevents.Event{}, errors.New("an event needs a time")
	}
	event := cloudevents.NewEvent(cloudevents.VersionV1)
	event.SetType(eventType.Name)
	event.SetSource(o.Source())
	event.SetSubject(o.Key().String())
	event.SetID(eventID(o, suffix))
	event.SetTime(recordTime(at))
	event.SetDataSchema(eventType.Schema())
	event.SetExtension(ExtensionKind, o.Kind)
	event.SetExtension(ExtensionNamespace, o.Namespace)
	event.SetExtension(ExtensionName, o.Name)
	return event, nil
}

// recordTime returns a time in microseconds, the precision of a record.
func recordTime(at time.Time) time.Time { return at.UTC().Truncate(time.Microsecond) }

func withData(event cloudevents.Event, data any) (cloudevents.Event, error) {
	if err := event.SetData(cloudevents.ApplicationJSON, data); err != nil {
		return cloudevents.Event{}, fmt.Errorf("data of event %s: %w", event.ID(), err)
	}
	if err := event.Validate(); err != nil {
		return cloudevents.Event{}, fmt.Errorf("event %s: %w", event.ID(), err)
	}
	return event, nil
}
