package events

import (
	"time"

	cloudevents "github.com/cloudevents/sdk-go/v2"
)

// ClockData is the data of a clock event. The doc tags describe the fields in the generated documentation.
type ClockData struct {
	Namespace string    `json:"namespace" doc:"The namespace of the application."`
	Name      string    `json:"name" doc:"The name of the application."`
	UID       string    `json:"uid" doc:"The uid of the application."`
	Kind      string    `json:"kind" doc:"The kind of the application."`
	Due       time.Time `json:"due" doc:"The instant that the event stands for. It may be past when the event is sent."`
}

// Expired is the clock event that says that an application's time to live was over at an instant. It is no
// transition and has no sequence; the same instant gives the same event, to the byte.
func Expired(o Object, at time.Time) (cloudevents.Event, error) {
	due := instant(at)
	event, err := newEvent(o, expired, due.Format(time.RFC3339Nano), due)
	if err != nil {
		return cloudevents.Event{}, err
	}
	return withData(event, ClockData{
		Namespace: o.Namespace, Name: o.Name, UID: string(o.UID), Kind: o.Kind, Due: due,
	})
}

var expired = Type{Name: ExpiredType}
