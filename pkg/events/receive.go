package events

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	cloudevents "github.com/cloudevents/sdk-go/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// requestLimit is how large a received event may be.
const requestLimit = 1 << 20

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

// NewReceiver serves a handler over HTTP, as Triggers call it. An answer has no body unless it is a refusal: a
// broker takes the body of a success for a reply event.
func NewReceiver(handler Handler) (http.Handler, error) {
	if handler == nil {
		return nil, errors.New("a receiver needs a handler")
	}
	return receiver(handler), nil
}

type receiver Handler

func (h receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	if request.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "events are sent with POST", http.StatusMethodNotAllowed)
		return
	}
	request.Body = http.MaxBytesReader(w, request.Body, requestLimit)
	event, err := receive(request)
	if err == nil {
		err = call(request.Context(), Handler(h), *event)
	}
	if err != nil {
		http.Error(w, err.Error(), answer(err))
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// receive reads one event. What is not one now will not be one the next time.
func receive(request *http.Request) (*cloudevents.Event, error) {
	event, err := cloudevents.NewEventFromHTTPRequest(request)
	if err != nil {
		return nil, Permanent(fmt.Errorf("read event: %w", err))
	}
	if err := event.Validate(); err != nil {
		return nil, Permanent(fmt.Errorf("received event: %w", err))
	}
	return event, nil
}

// answer is the status of a handler's error. Brokers deliver again after 5xx, and after none of the 4xx here.
func answer(err error) int {
	switch {
	case tooLarge(err):
		return http.StatusRequestEntityTooLarge
	case IsPermanent(err):
		return http.StatusBadRequest
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
