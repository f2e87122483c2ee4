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

// Handler acts on an event. It re-reads the object, checks that what the event claims is true and still undone,
// acts with a precondition and returns; a duplicate, late, reordered or forged event does nothing. A nil error
// says that there is nothing left to do for this event, or that the work has begun.
type Handler func(ctx context.Context, event cloudevents.Event) error

const handlerTimeout = 30 * time.Second

// Call calls the handler for at most 30 s, with an event of its own, whose changes nobody else sees. A panic is an error,
// and its stack goes to the context's logger.
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

type permanent struct{ error }

func (p permanent) Unwrap() error { return p.error }

// Permanent marks an error of a handler as one that no repetition of the event can mend.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return permanent{err}
}

// IsPermanent says that no repetition of the event can mend the error.
func IsPermanent(err error) bool {
	var p permanent
	return errors.As(err, &p)
}
