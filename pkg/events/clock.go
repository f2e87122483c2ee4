package events

import (
	"time"

	cloudevents "github.com/cloudevents/sdk-go/v2"
)

// ClockData is the data of a clock event. The doc tags describe the fields in the generated documentation.
type ClockData struct {
	Namespace string    `json:"namespace" doc:"The namespace of the object."`
	Name      string    `json:"name" doc:"The name of the object."`
	UID       string    `json:"uid" doc:"The uid of the object."`
	Kind      string    `json:"kind" doc:"The kind of the object."`
	Due       time.Time `json:"due" doc:"The instant that the event stands for. It may be past when the event is sent."`
}

// NewExpiredEvent is the clock event that says that an application's time to live was over at an instant. It is no
// transition and has no sequence; the same instant gives the same event, to the byte.
func NewExpiredEvent(o Object, at time.Time) (cloudevents.Event, error) {
	return newClockEvent(o, Type{Name: ExpiredType}, at)
}

// NewDueEvent is the clock event that says that a schedule's run was due at an instant.
func NewDueEvent(o Object, at time.Time) (cloudevents.Event, error) {
	return newClockEvent(o, Type{Name: DueType}, at)
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
