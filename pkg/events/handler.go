package events

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	cloudevents "github.com/cloudevents/sdk-go/v2"
	"knative.dev/pkg/logging"
)

// Handler acts on an event. It reads the object again, checks that the event is true and its work not done yet, and acts with a
// precondition. So a duplicate, late, reordered or forged event does nothing. A nil error means that nothing is left to do for
// the event, or that the work has started.
type Handler func(ctx context.Context, event cloudevents.Event) error

const handlerTimeout = 30 * time.Second

// Call calls the handler for at most 30 s, with a copy of the event. Call turns a panic into an error, and writes its stack to
// the context's logger.
func (h Handler) Call(ctx context.Context, event cloudevents.Event) (err error) {
	ctx, cancel := context.WithTimeout(ctx, handlerTimeout)
	defer cancel()
	defer func() {
		if cause := recover(); cause != nil {
			logging.FromContext(ctx).Errorw("handler panicked", "cause", cause, "stack", string(debug.Stack()))
			err = fmt.Errorf("handler panicked: %v", cause)
		}
	}()
	return h(ctx, event.Clone())
}

type permanentError struct{ error }

func (p permanentError) Unwrap() error { return p.error }

// Permanent marks a handler's error as permanent: repeating the event cannot succeed.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return permanentError{err}
}

// IsPermanent reports whether a handler's error is permanent. IsRejected reports the same about a sink's error.
func IsPermanent(err error) bool {
	var p permanentError
	return errors.As(err, &p)
}
