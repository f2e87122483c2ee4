package function

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	cloudevents "github.com/cloudevents/sdk-go/v2"
	"golang.org/x/sync/semaphore"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"knative.dev/pkg/logging"

	"github.com/firesteel-dev/firesteel/pkg/events"
	"github.com/firesteel-dev/firesteel/pkg/fairshare"
)

const (
	// maxRequestBytes bounds a received event. Firesteel's events are below 8 KiB, and so below maxSmallBody.
	maxRequestBytes = 1 << 20
	// A body of up to maxSmallBody is always read. At most maxLargeBodies larger ones are held at the same time.
	maxSmallBody   = 16 << 10
	maxLargeBodies = 32
	// maxCalls bounds the concurrent calls of a handler, and maxCallsPerNamespace those for the objects of one namespace. An event waits
	// up to queueTimeout for its call.
	maxCalls             = 512
	maxCallsPerNamespace = 32
	queueTimeout         = 2 * time.Second
)

var (
	// errBusy means that no call was free within queueTimeout.
	errBusy = errors.New("the handler is busy with other events")
	// errAuthenticationFailed means that the sender cannot be checked now.
	errAuthenticationFailed = errors.New("the sender cannot be authenticated now")
	// errTooManyLargeEvents means that maxLargeBodies are held already.
	errTooManyLargeEvents = errors.New("the handler holds too many large events")
	// errIncomplete means that the body of a request did not arrive completely.
	errIncomplete = errors.New("the event did not arrive completely")
)

// NewReceiver returns an HTTP handler that receives events, in binary and in structured mode, as Triggers send them. At most 32
// calls of the handler run concurrently for the objects of one namespace, and no namespace waits for another. An event takes a
// slot only after its body has arrived. The responses are
//
//	204  success
//	400  a permanent error: the request holds no event, or the error is marked by events.Permanent
//	401  the sender is not authenticated
//	408  the body did not arrive completely
//	413  the event is above 1 MiB
//	429  32 calls ran for 2 s, or 32 other events above 16 KiB were held
//	500  any other error, including a panic
//	503  the sender cannot be checked now, the handler timed out, or the API server is overloaded or unreachable
//
// A broker delivers an event again after 408, 429, 500 and 503. The handler also gets events of types that Firesteel does not send,
// since a broker may carry them. A success has no body, since a broker would treat it as a reply event. Errors are logged to
// the logger of the request's context.
func NewReceiver(handler events.Handler) (http.Handler, error) { return newReceiver(handler, nil) }

// Authenticate checks the sender of a request. An error that wraps ErrUnauthenticated refuses the sender. Any other error means that
// the check failed.
type Authenticate func(request *http.Request) error

// ErrUnauthenticated is wrapped by the error of Authenticate for a sender that is refused.
var ErrUnauthenticated = errors.New("the sender is not authenticated")

// newReceiver creates a receiver. It accepts the events of all senders if authenticate is nil.
func newReceiver(handler events.Handler, authenticate Authenticate) (*receiver, error) {
	if handler == nil {
		return nil, errors.New("a receiver needs a handler")
	}
	if authenticate == nil {
		authenticate = func(*http.Request) error { return nil }
	}
	return &receiver{
		handler: handler, authenticate: authenticate, slots: fairshare.New(maxCalls, maxCallsPerNamespace),
		largeBodies: semaphore.NewWeighted(maxLargeBodies), queueTimeout: queueTimeout,
	}, nil
}

type receiver struct {
	handler      events.Handler
	authenticate Authenticate
	slots        *fairshare.Limiter
	// largeBodies bounds the number of large bodies that are held.
	largeBodies  *semaphore.Weighted
	queueTimeout time.Duration
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	if request.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "send events with POST", http.StatusMethodNotAllowed)
		return
	}
	event, err := r.handle(w, request)
	if err == nil {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	status := statusOf(err)
	logger := logging.FromContext(request.Context()).With("status", status, "error", err)
	if event != nil {
		logger = logger.With("id", event.ID(), "type", event.Type(), "source", event.Source())
	}
	logger.Warn("event was not handled")
	http.Error(w, err.Error(), status)
}

// handle reads an event and calls the handler. The event is nil if the request holds none. The event takes a slot only after its body
// has arrived, so that a slow sender delays no others.
func (r *receiver) handle(w http.ResponseWriter, request *http.Request) (*cloudevents.Event, error) {
	switch err := r.authenticate(request); {
	case errors.Is(err, ErrUnauthenticated):
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("%w: %w", errAuthenticationFailed, err)
	}
	body, release, err := r.readBody(http.MaxBytesReader(w, request.Body, maxRequestBytes))
	if err != nil {
		return nil, err
	}
	defer release()
	request.Body = io.NopCloser(bytes.NewReader(body))
	event, err := decodeEvent(request)
	if err != nil {
		return nil, err
	}
	markEventArrived(request.Context())
	free, err := r.acquireSlot(request.Context(), events.NamespaceOf(*event))
	if err != nil {
		return event, err
	}
	defer free()
	return event, r.handler.Call(request.Context(), *event)
}

// readBody reads a body. A large body counts until it is released.
func (r *receiver) readBody(body io.Reader) (text []byte, release func(), err error) {
	release = func() {}
	text, err = io.ReadAll(io.LimitReader(body, maxSmallBody+1))
	if err == nil && len(text) > maxSmallBody {
		if !r.largeBodies.TryAcquire(1) {
			return nil, nil, errTooManyLargeEvents
		}
		release = func() { r.largeBodies.Release(1) }
		var rest []byte
		rest, err = io.ReadAll(body)
		text = append(text, rest...)
	}
	switch {
	case err == nil:
		return text, release, nil
	case isTooLarge(err):
		release()
		return nil, nil, err
	default:
		release()
		return nil, nil, fmt.Errorf("%w: %w", errIncomplete, err)
	}
}

// acquireSlot waits for a slot for up to queueTimeout.
func (r *receiver) acquireSlot(ctx context.Context, namespace string) (release func(), err error) {
	waiting, cancel := context.WithTimeoutCause(ctx, r.queueTimeout, errBusy)
	defer cancel()
	if release, err = r.slots.Acquire(waiting, namespace); err != nil {
		return nil, context.Cause(waiting)
	}
	return release, nil
}

// decodeEvent decodes an event. Its errors are permanent, since the same request would fail again.
func decodeEvent(request *http.Request) (*cloudevents.Event, error) {
	event, err := cloudevents.NewEventFromHTTPRequest(request)
	if err != nil {
		return nil, events.Permanent(fmt.Errorf("read event: %w", err))
	}
	if err := event.Validate(); err != nil {
		return nil, events.Permanent(fmt.Errorf("invalid event: %w", err))
	}
	return event, nil
}

// statusOf returns the HTTP status for an error. Brokers deliver again after 408, 429 and 5xx, but not after the other ones.
func statusOf(err error) int {
	switch {
	case isTooLarge(err):
		return http.StatusRequestEntityTooLarge
	case events.IsPermanent(err):
		return http.StatusBadRequest
	case errors.Is(err, errIncomplete):
		return http.StatusRequestTimeout
	case errors.Is(err, ErrUnauthenticated):
		return http.StatusUnauthorized
	case errors.Is(err, errAuthenticationFailed):
		return http.StatusServiceUnavailable
	case errors.Is(err, errBusy), errors.Is(err, errTooManyLargeEvents):
		return http.StatusTooManyRequests
	case isOverloaded(err):
		return http.StatusServiceUnavailable
	default:
		return http.StatusInternalServerError
	}
}

func isTooLarge(err error) bool {
	var limit *http.MaxBytesError
	return errors.As(err, &limit)
}

// isOverloaded reports whether the handler timed out, or the API server cannot accept requests now.
func isOverloaded(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) ||
		apierrors.IsTooManyRequests(err) || apierrors.IsServiceUnavailable(err) || apierrors.IsServerTimeout(err) || apierrors.IsTimeout(err) ||
		utilnet.IsConnectionRefused(err) || utilnet.IsConnectionReset(err) || utilnet.IsTimeout(err)
}
