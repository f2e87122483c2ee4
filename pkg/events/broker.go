package events

import (
	"context"
	"fmt"

	cloudevents "github.com/cloudevents/sdk-go/v2"

	"github.com/firesteel-dev/firesteel/pkg/fairshare"
)

const (
	// maxCalls bounds the calls of handlers that run at once, and maxCallsPerNamespace those about objects of one namespace.
	maxCalls             = 512
	maxCallsPerNamespace = 32
)

// Broker runs handlers in this process, where the settings say so.
type Broker struct {
	handlers  map[string]Handler
	inProcess func(handler string) bool
	limiter   *fairshare.Limiter
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
	return &Broker{handlers: handlers, inProcess: inProcess, limiter: fairshare.New(maxCalls, maxCallsPerNamespace)}, nil
}

// InProcess says whether the handler runs in this process.
func (b *Broker) InProcess(name string) bool { return b.inProcess(name) }

// Deliver calls the handler for at most 30 s. 32 calls run at once about objects of one namespace, and no namespace waits for
// another. A panic is an error, and its stack goes to the context's logger.
func (b *Broker) Deliver(ctx context.Context, name string, event cloudevents.Event) error {
	handler, ok := b.handlers[name]
	if !ok {
		return fmt.Errorf("no handler is named %q", name)
	}
	release, err := b.limiter.Acquire(ctx, NamespaceOf(event))
	if err != nil {
		return err
	}
	defer release()
	return handler.Call(ctx, event)
}
