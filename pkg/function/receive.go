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
	// maxRequestBytes is how large a received event may be. Firesteel's stay below 8 KiB, and so below maxSmallBody.
	maxRequestBytes = 1 << 20
	// maxSmallBody is how large a body is that is read in any case, and maxLargeBodies the number of larger ones that are held at once.
	maxSmallBody   = 16 << 10
	maxLargeBodies = 32
	// maxCalls bounds the calls of a handler, maxCallsPerNamespace those about objects of one namespace, and queueTimeout is how long
	// an event waits for its turn.
	maxCalls             = 512
	maxCallsPerNamespace = 32
	queueTimeout         = 2 * time.Second
)

var (
	// errBusy is the error of an event for which no call was free.
	errBusy = errors.New("the handler is busy with other events")
	// errAuthenticationFailed is the error of a sender who cannot be checked now.
	errAuthenticationFailed = errors.New("the sender cannot be authenticated now")
	// errTooManyLargeEvents is the error of a large event for which there is no room.
	errTooManyLargeEvents = errors.New("the handler holds as many large events as it may")
	// errIncomplete is the error of a request whose body did not arrive whole.
	errIncomplete = errors.New("the event did not arrive whole")
)

// NewReceiver serves a handler over HTTP, in binary and in structured mode, as Triggers call it. At most 32 calls run at once
// about objects of one namespace, which their source names, and no namespace waits for another. A request counts when its
// body has arrived. It answers
//
//	204  done
//	401  a sender that is not authenticated
//	400  what no repetition can mend: no event, or an error that events.Permanent marks
//	408  the body did not arrive whole
//	413  an event above 1 MiB
//	429  32 calls were running for 2 s, or 32 other events above 16 KiB were held
//	503  the sender cannot be checked now, the handler ran out of time, or the API server is overloaded or away
//	500  any other error, a panic too
//
// and a broker delivers again after 408, 429, 503 and 500. Events of types that Firesteel does not send are handed over like any
// other: a broker may carry them, too. An answer has no body unless it is a refusal: a broker takes the body of a success for
// a reply event. What is refused goes to the logger of the request's context.
func NewReceiver(handler events.Handler) (http.Handler, error) { return newReceiver(handler, nil) }

// Authenticate checks who sends a request. An error that wraps ErrUnauthenticated is about the sender; any other one is trouble with
// the check.
type Authenticate func(request *http.Request) error

// ErrUnauthenticated is wrapped by the errors of Authenticate about senders that must not pass.
var ErrUnauthenticated = errors.New("the sender is not authenticated")

// newReceiver takes the events of all senders if authenticate is nil.
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
	// largeBodies bounds the large bodies that are held.
	largeBodies  *semaphore.Weighted
	queueTimeout time.Duration
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	if request.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "events are sent with POST", http.StatusMethodNotAllowed)
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

// handle reads an event and has it handled. The event is nil if the request holds none. Nobody else waits while the body arrives:
// a slot is taken when it is there.
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

// readBody reads a body. A large one counts until it is released.
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

// acquireSlot waits for a slot.
func (r *receiver) acquireSlot(ctx context.Context, namespace string) (release func(), err error) {
	waiting, cancel := context.WithTimeoutCause(ctx, r.queueTimeout, errBusy)
	defer cancel()
	if release, err = r.slots.Acquire(waiting, namespace); err != nil {
		return nil, context.Cause(waiting)
	}
	return release, nil
}

// decodeEvent reads one event. What is not one now will not be one the next time.
func decodeEvent(request *http.Request) (*cloudevents.Event, error) {
	event, err := cloudevents.NewEventFromHTTPRequest(request)
	if err != nil {
		return nil, events.Permanent(fmt.Errorf("read event: %w", err))
	}
	if err := event.Validate(); err != nil {
		return nil, events.Permanent(fmt.Errorf("received event: %w", err))
	}
	return event, nil
}

// statusOf is the status of a handler's error. Brokers deliver again after 429 and 5xx, and after none of the others here.
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

// isOverloaded says that the handler or the API server cannot take work now.
func isOverloaded(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) ||
		apierrors.IsTooManyRequests(err) || apierrors.IsServiceUnavailable(err) || apierrors.IsServerTimeout(err) || apierrors.IsTimeout(err) ||
		utilnet.IsConnectionRefused(err) || utilnet.IsConnectionReset(err) || utilnet.IsTimeout(err)
}
