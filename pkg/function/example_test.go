package function_test

import (
	"context"
	"fmt"

	cloudevents "github.com/cloudevents/sdk-go/v2"

	"github.com/firesteel-dev/firesteel/pkg/events"
	"github.com/firesteel-dev/firesteel/pkg/function"
)

// A handler that prints how attempts end.
func ExampleHandle() {
	function.Handle(func(_ context.Context, event cloudevents.Event) error {
		data, err := events.DecodeTransition(event)
		if err == nil && data.End != nil {
			fmt.Printf("attempt %d of %s: %s %s\n", data.Attempt, event.Subject(), data.End.Outcome, data.End.Reason)
		}
		return err
	})
}
