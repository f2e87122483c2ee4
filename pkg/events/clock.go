package events

import (
	"time"

	cloudevents "github.com/cloudevents/sdk-go/v2"
)

// ClockData is the data of a clock event. The doc tags are published as descriptions of the fields.
type ClockData struct {
	Namespace string    `json:"namespace" doc:"The namespace of the object."`
	Name      string    `json:"name" doc:"The name of the object."`
	UID       string    `json:"uid" doc:"The uid of the object."`
	Kind      string    `json:"kind" doc:"The kind of the object."`
	Due       time.Time `json:"due" doc:"The instant of the event. It may be past when the event is sent."`
}

// NewExpiredEvent creates the clock event for the end of an application's time to live. It has no sequence. The same instant
// always gives an event with the same bytes.
func NewExpiredEvent(o Object, at time.Time) (cloudevents.Event, error) {
	return newClockEvent(o, Type{Name: ExpiredType}, at)
}

// NewInterruptedEvent creates the clock event for an attempt whose driver is about to be deleted before its end.
func NewInterruptedEvent(o Object, since time.Time) (cloudevents.Event, error) {
	return newClockEvent(o, Type{Name: InterruptedType}, since)
}

// NewDueEvent creates the clock event for a scheduled run that is due.
func NewDueEvent(o Object, at time.Time) (cloudevents.Event, error) {
	return newClockEvent(o, Type{Name: DueType}, at)
}

// NewNamespaceRequestedEvent creates the clock event for a namespace that asks for what drivers need.
func NewNamespaceRequestedEvent(o Object, created time.Time) (cloudevents.Event, error) {
	return newClockEvent(o, Type{Name: NamespaceRequestedType}, created)
}

func newClockEvent(o Object, eventType Type, at time.Time) (cloudevents.Event, error) {
	due := recordTime(at)
	event, err := newEvent(o, eventType, due.Format(time.RFC3339Nano), due)
	if err != nil {
		return cloudevents.Event{}, err
	}
	return withData(event, ClockData{
		Namespace: o.Namespace, Name: o.Name, UID: string(o.UID), Kind: o.Kind, Due: due,
	})
}
