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
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"knative.dev/pkg/logging"

	"github.com/firesteel-dev/firesteel/pkg/events"
	"github.com/firesteel-dev/firesteel/pkg/fairshare"
)

const (
	// requestLimit is how large a received event may be. Firesteel's stay below 8 KiB.
	requestLimit = 1 << 20
	// callsAtOnce bounds the calls of a handler, callsPerNamespace those about objects of one namespace, and queueTime is how long
	// an event waits for its turn.
	callsAtOnce       = 512
	callsPerNamespace = 32
	queueTime         = 2 * time.Second
)

var (
	// errBusy is the error of an event for which no call was free.
	errBusy = errors.New("the handler is busy with other events")
	// errIncomplete is the error of a request whose body did not arrive whole.
	errIncomplete = errors.New("the event did not arrive whole")
)

// NewReceiver serves a handler over HTTP, in binary and in structured mode, as Triggers call it. At most 32 calls run at once
// about objects of one namespace, which their source names, and no namespace waits for another. A request counts when its
// body has arrived. It answers
//
//	204  done
//	400  what no repetition can mend: no event, or an error that events.Permanent marks
//	408  the body did not arrive whole
//	413  an event above 1 MiB
//	429  32 calls were running for 2 s
//	503  the handler ran out of time, or the API server is overloaded or away
//	500  any other error, a panic too
//
// and a broker delivers again after 408, 429, 503 and 500. Events of types that Firesteel does not send are handed over like any
// other: a broker may carry them, too. An answer has no body unless it is a refusal: a broker takes the body of a success for
// a reply event. What is refused goes to the logger of the request's context.
func NewReceiver(handler events.Handler) (http.Handler, error) {
	if handler == nil {
		return nil, errors.New("a receiver needs a handler")
	}
	return &receiver{handler: handler, slots: fairshare.New(callsAtOnce, callsPerNamespace), queueTime: queueTime}, nil
}

type receiver struct {
	handler   events.Handler
	slots     *fairshare.Limiter
	queueTime time.Duration
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	if request.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "events are sent with POST", http.StatusMethodNotAllowed)
		return
	}
	event, err := r.take(w, request)
	if err == nil {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	status := answer(err)
	logger := logging.FromContext(request.Context()).With("status", status, "error", err)
	if event != nil {
		logger = logger.With("id", event.ID(), "type", event.Type(), "source", event.Source())
	}
	logger.Warn("event was not handled")
	http.Error(w, err.Error(), status)
}

// take reads an event and has it handled. The event is nil if the request holds none. Nobody else waits while the body arrives:
// a slot is taken when it is there.
func (r *receiver) take(w http.ResponseWriter, request *http.Request) (*cloudevents.Event, error) {
	event, err := receive(w, request)
	if err != nil {
		return nil, err
	}
	release, err := r.queue(request.Context(), events.NamespaceOf(*event))
	if err != nil {
		return event, err
	}
	defer release()
	return event, r.handler.Call(request.Context(), *event)
}

// queue waits for a slot.
func (r *receiver) queue(ctx context.Context, namespace string) (release func(), err error) {
	waiting, cancel := context.WithTimeoutCause(ctx, r.queueTime, errBusy)
	defer cancel()
	if release, err = r.slots.Acquire(waiting, namespace); err != nil {
		return nil, context.Cause(waiting)
	}
	return release, nil
}

// receive reads one event. What is not one now will not be one the next time.
func receive(w http.ResponseWriter, request *http.Request) (*cloudevents.Event, error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, request.Body, requestLimit))
	switch {
	case tooLarge(err):
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("%w: %w", errIncomplete, err)
	}
	request.Body = io.NopCloser(bytes.NewReader(body))
	event, err := cloudevents.NewEventFromHTTPRequest(request)
	if err != nil {
		return nil, events.Permanent(fmt.Errorf("read event: %w", err))
	}
	if err := event.Validate(); err != nil {
		return nil, events.Permanent(fmt.Errorf("received event: %w", err))
	}
	return event, nil
}

// answer is the status of a handler's error. Brokers deliver again after 429 and 5xx, and after none of the others here.
func answer(err error) int {
	switch {
	case tooLarge(err):
		return http.StatusRequestEntityTooLarge
	case events.IsPermanent(err):
		return http.StatusBadRequest
	case errors.Is(err, errIncomplete):
		return http.StatusRequestTimeout
	case errors.Is(err, errBusy):
		return http.StatusTooManyRequests
	case overloaded(err):
		return http.StatusServiceUnavailable
	default:
		return http.StatusInternalServerError
	}
}

func tooLarge(err error) bool {
	var limit *http.MaxBytesError
	return errors.As(err, &limit)
}

// overloaded says that the handler or the API server cannot take work now.
func overloaded(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) ||
		apierrors.IsTooManyRequests(err) || apierrors.IsServiceUnavailable(err) || apierrors.IsServerTimeout(err) || apierrors.IsTimeout(err) ||
		utilnet.IsConnectionRefused(err) || utilnet.IsConnectionReset(err) || utilnet.IsTimeout(err)
}
