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

// TransitionData is the data of an event that tells a transition. The doc tags describe the fields in the
// generated documentation.
type TransitionData struct {
	Namespace     string `json:"namespace" doc:"The namespace of the object."`
	Name          string `json:"name" doc:"The name of the object."`
	UID           string `json:"uid" doc:"The uid of the object."`
	Kind          string `json:"kind" doc:"The kind of the object."`
	Attempt       int64  `json:"attempt" doc:"The attempt that the transition belongs to; the first is 0."`
	Sequence      int64  `json:"sequence" doc:"The number of the transition among all of the object's, from 1, without gaps." minimum:"1"`
	State         string `json:"state" doc:"The lifecycle state that began."`
	Message       string `json:"message,omitempty" doc:"What happened, for people. A long text is cut. Secret values are redacted, and what a failed driver said is there only with failure-messages of config-events."`
	DriverPod     string `json:"driverPod,omitempty" doc:"The name of the driver Pod."`
	ApplicationID string `json:"applicationID,omitempty" doc:"Spark's own id of the attempt, spark.app.id."`
	End           *End   `json:"end,omitempty" doc:"How and why the attempt ended; on the end of an attempt only."`
	Outcome       string `json:"outcome,omitempty" doc:"The object's true end, Succeeded, Failed, or Deleted before its end; on its last transition only. Where an edit of the spec has it run again, another end follows." enum:"Succeeded,Failed,Deleted"`
}

// DecodeTransition reads the data of a received event. What is no transition's event, or has data that is none of it, is a
// Permanent error.
func DecodeTransition(event cloudevents.Event) (TransitionData, error) {
	return decode[TransitionData](event, false)
}

// DecodeClock reads the data of a received clock event. What is none, or has data that is none of it, is a Permanent error.
func DecodeClock(event cloudevents.Event) (ClockData, error) {
	return decode[ClockData](event, true)
}

func decode[T any](event cloudevents.Event, clock bool) (data T, err error) {
	if eventType, ok := TypeByName(event.Type()); !ok || eventType.Clock() != clock {
		return data, Permanent(fmt.Errorf("event %.256q has the type %.256q, and no data of the type %T", event.ID(), event.Type(), data))
	}
	if err := event.DataAs(&data); err != nil {
		return data, Permanent(fmt.Errorf("data of event %.256q: %w", event.ID(), err))
	}
	return data, nil
}

// End is how an attempt ended and why, for programs.
type End struct {
	Outcome        string `json:"outcome" doc:"Succeeded or Failed." enum:"Succeeded,Failed"`
	RestartAllowed bool   `json:"restartAllowed" doc:"Whether the spec allows another attempt; then a handler gives the verdict."`
	Class          string `json:"class,omitempty" doc:"The class of the failure: application, infrastructure, eviction, scheduling or timeout; absent after success."`
	ExitCode       *int32 `json:"exitCode,omitempty" doc:"The exit code of the driver's container."`
	Reason         string `json:"reason,omitempty" doc:"A word in CamelCase: the container's, the Pod's or the API server's."`
	Message        string `json:"message,omitempty" doc:"Why, for people. As the message of the transition, with what more is known."`
	Pod            string `json:"pod,omitempty" doc:"The Pod that the attempt ended with: its driver."`
	Attempt        int64  `json:"attempt" doc:"The attempt that ended."`
}

// What the texts of one event may take, encoded. Together with all else they stay below 8 KiB.
const (
	messageLimit       = 2048
	applicationIDLimit = 256
	wordLimit          = 128
	podLimit           = 253
)

// NewTransitionEvent is the event of a transition. It is made from the object's identity and the transition alone:
// the same transition always gives the same event, to the byte.
func NewTransitionEvent(o Object, t v1alpha1.Transition) (cloudevents.Event, error) {
	eventType, ok := TypeForState(o.Kind, t.State)
	if !ok {
		return cloudevents.Event{}, fmt.Errorf("no event tells state %.64q of a %s", t.State, o.Kind)
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

// validateTransition refuses what cannot be an attribute: nothing keeps people from editing a status.
func validateTransition(t v1alpha1.Transition) error {
	switch {
	case t.Sequence < 1:
		return errors.New("the sequence starts at 1")
	case t.End != nil && !isAttemptOutcome(t.End.Outcome):
		return fmt.Errorf("%.64q is no outcome of an attempt", t.End.Outcome)
	case t.Final() && !isAttemptOutcome(t.Outcome) && t.Outcome != v1alpha1.OutcomeDeleted:
		return fmt.Errorf("%.64q is no outcome of an object", t.Outcome)
	default:
		return nil
	}
}

// isAttemptOutcome says that an attempt can end so. An object can also be deleted before its end.
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
		End:           endData(t),
		Outcome:       t.Outcome,
	}
}

// message is what the event says happened.
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

// sequenceText is zero-padded, since consumers compare sequences as strings.
func sequenceText(sequence int64) string { return fmt.Sprintf("%010d", sequence) }

// eventID tells the events of one object apart. The uid makes it differ from those of all other objects, too.
func eventID(o Object, suffix string) string { return string(o.UID) + "." + suffix }

// newEvent is an event without data. Its time is cut to what a record keeps, microseconds, so that it is the
// same before and after the record was stored.
func newEvent(o Object, eventType Type, suffix string, at time.Time) (cloudevents.Event, error) {
	if err := o.validate(); err != nil {
		return cloudevents.Event{}, fmt.Errorf("object of the event: %w", err)
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
