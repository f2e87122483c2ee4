package events

import (
	"context"
	"fmt"

	cloudevents "github.com/cloudevents/sdk-go/v2"

	"github.com/firesteel-dev/firesteel/pkg/fairshare"
)

const (
	// maxCalls bounds the concurrent calls of handlers, and maxCallsPerNamespace those for the objects of one namespace.
	maxCalls             = 512
	maxCallsPerNamespace = 32
)

// Broker calls the handlers that run in this process, according to the settings.
type Broker struct {
	handlers  map[string]Handler
	inProcess func(handler string) bool
	limiter   *fairshare.Limiter
}

// NewBroker creates a broker of named handlers. inProcess reports whether a handler runs in this process. The relay asks before
// each call, so the setting can change while Firesteel runs. If inProcess is nil, all handlers run in this process.
func NewBroker(handlers map[string]Handler, inProcess func(handler string) bool) (*Broker, error) {
	for name, handler := range handlers {
		if handler == nil {
			return nil, fmt.Errorf("handler %q has no function", name)
		}
	}
	if inProcess == nil {
		inProcess = func(string) bool { return true }
	}
	return &Broker{handlers: handlers, inProcess: inProcess, limiter: fairshare.New(maxCalls, maxCallsPerNamespace)}, nil
}

// InProcess reports whether the handler runs in this process.
func (b *Broker) InProcess(name string) bool { return b.inProcess(name) }

// Deliver calls the handler for at most 30 s. At most 32 calls run concurrently for the objects of one namespace, and no
// namespace waits for another. Deliver turns a panic into an error, and writes its stack to the context's logger.
func (b *Broker) Deliver(ctx context.Context, name string, event cloudevents.Event) error {
	handler, ok := b.handlers[name]
	if !ok {
		return fmt.Errorf("there is no handler %q", name)
	}
	release, err := b.limiter.Acquire(ctx, NamespaceOf(event))
	if err != nil {
		return err
	}
	defer release()
	return handler.Call(ctx, event)
}
