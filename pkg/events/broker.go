package events

import (
	"context"
	"fmt"

	cloudevents "github.com/cloudevents/sdk-go/v2"
)

const handlersAtOnce = 32

// Broker runs handlers in this process, where the settings say so.
type Broker struct {
	handlers  map[string]Handler
	inProcess func(handler string) bool
	slots     chan struct{}
}

// NewBroker makes a broker of named handlers. inProcess tells which of them run in this process; it is asked at
// each delivery, so that a setting can change while Firesteel runs. If it is nil, all do.
func NewBroker(handlers map[string]Handler, inProcess func(handler string) bool) (*Broker, error) {
	for name, handler := range handlers {
		if handler == nil {
			return nil, fmt.Errorf("handler %q has no function", name)
		}
	}
	if inProcess == nil {
		inProcess = func(string) bool { return true }
	}
	return &Broker{handlers: handlers, inProcess: inProcess, slots: make(chan struct{}, handlersAtOnce)}, nil
}

// InProcess says whether the handler runs in this process.
func (b *Broker) InProcess(name string) bool { return b.inProcess(name) }

// Deliver calls the handler, at most 32 at once and each for 30 s. A panic is an error,
// and its stack goes to the context's logger.
func (b *Broker) Deliver(ctx context.Context, name string, event cloudevents.Event) error {
	handler, known := b.handlers[name]
	if !known {
		return fmt.Errorf("no handler is named %q", name)
	}
	select {
	case b.slots <- struct{}{}:
		defer func() { <-b.slots }()
	case <-ctx.Done():
		return ctx.Err()
	}
	return handler.Call(ctx, event)
}
