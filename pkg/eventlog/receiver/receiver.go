package receiver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"go.uber.org/zap"
	"k8s.io/apimachinery/pkg/util/cache"

	"github.com/firesteel-dev/firesteel/pkg/access"
	"github.com/firesteel-dev/firesteel/pkg/access/review"
	"github.com/firesteel-dev/firesteel/pkg/archive"
	"github.com/firesteel-dev/firesteel/pkg/eventlog"
	"github.com/firesteel-dev/firesteel/pkg/fairshare"
)

const (
	// maxRequests and maxRequestsPerNamespace bound the requests under way, each with a part in memory.
	maxRequests, maxRequestsPerNamespace = 32, 8
	// slotTimeout is how long a request waits for others, and bodyTimeout how long its body may take.
	slotTimeout, bodyTimeout = 5 * time.Second, 20 * time.Second
	// maxSessions bounds the Pods that are remembered. sessionAge is how long one is, until the API server is asked again.
	maxSessions, sessionAge = 4096, time.Minute
	// retryAfter is the header Retry-After of a refusal: how long a client waits, in seconds.
	retryAfter = "5"
)

// Guard says whose event log a request is about, by the API server's word.
type Guard interface {
	// Pod returns the Pod that a token is bound to.
	Pod(ctx context.Context, token string) (review.Pod, error)
	// Attempt returns the attempt whose driver is the Pod, once the archive knows that it has an event log.
	Attempt(ctx context.Context, pod review.Pod) (*archive.Attempt, error)
}

// Receiver stores event logs. It is an http.Handler.
type Receiver struct {
	guard    Guard
	maxBytes func() int64
	logger   *zap.SugaredLogger
	slots    *fairshare.Limiter
	sessions *cache.LRUExpireCache
	mux      *http.ServeMux
	// bodyTimeout is how long a body may take.
	bodyTimeout time.Duration
}

// New returns a Receiver. An event log has at most maxBytes.
func New(guard Guard, maxBytes func() int64, logger *zap.SugaredLogger) *Receiver {
	r := &Receiver{
		guard: guard, maxBytes: maxBytes, logger: logger, slots: fairshare.New(maxRequests, maxRequestsPerNamespace),
		sessions: cache.NewLRUExpireCache(maxSessions), mux: http.NewServeMux(), bodyTimeout: bodyTimeout,
	}
	r.mux.HandleFunc("GET "+eventlog.FilesPath, r.serve(r.list))
	r.mux.HandleFunc("PUT "+eventlog.FilesPath+"/{name}", r.serve(r.store))
	return r
}

// ServeHTTP implements http.Handler.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	r.mux.ServeHTTP(w, request)
}

// refusal is an error with the HTTP status that it gives.
type refusal struct {
	status int
	reason string
}

func (e *refusal) Error() string { return e.reason }

func refuse(status int, format string, values ...any) error {
	return &refusal{status, fmt.Sprintf(format, values...)}
}

// serve finds out whose event log a request is about, and holds a slot while it is handled.
func (r *Receiver) serve(handle func(http.ResponseWriter, *http.Request, *session) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, request *http.Request) {
		answer, err := r.answer(w, request, handle)
		if err != nil {
			r.fail(w, request, err)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(answer) // the client is gone if it fails
	}
}

func (r *Receiver) answer(
	w http.ResponseWriter, request *http.Request, handle func(http.ResponseWriter, *http.Request, *session) (any, error),
) (any, error) {
	pod, err := r.guard.Pod(request.Context(), access.BearerToken(request.Header.Get("Authorization")))
	if err != nil {
		return nil, err
	}
	waiting, cancel := context.WithTimeout(request.Context(), slotTimeout)
	defer cancel()
	release, err := r.slots.Acquire(waiting, pod.Namespace)
	if err != nil {
		return nil, refuse(http.StatusTooManyRequests, "the namespace %s sends more than is stored at once", pod.Namespace)
	}
	defer release()
	s, err := r.session(request.Context(), pod)
	if err != nil {
		return nil, err
	}
	if !s.mutex.TryLock() {
		return nil, refuse(http.StatusTooManyRequests, "another request of the Pod %s is under way", pod)
	}
	defer s.mutex.Unlock()
	answer, err := handle(w, request, s)
	if archive.IsStorage(err) {
		r.sessions.Remove(pod.UID) // what is stored is not known any more
	}
	return answer, err
}

// session returns what is known of the event log of a Pod.
func (r *Receiver) session(ctx context.Context, pod review.Pod) (*session, error) {
	if known, ok := r.sessions.Get(pod.UID); ok {
		return known.(*session), nil
	}
	attempt, err := r.guard.Attempt(ctx, pod)
	if err != nil {
		return nil, err
	}
	s, err := openSession(ctx, attempt)
	if err != nil {
		return nil, err
	}
	r.sessions.Add(pod.UID, s, sessionAge)
	return s, nil
}

func (r *Receiver) list(_ http.ResponseWriter, _ *http.Request, s *session) (any, error) {
	return s.list(), nil
}

func (r *Receiver) store(w http.ResponseWriter, request *http.Request, s *session) (any, error) {
	name := request.PathValue("name")
	if err := eventlog.CheckName(name); err != nil {
		return nil, refuse(http.StatusBadRequest, "%v", err)
	}
	text := request.URL.Query().Get(eventlog.OffsetParameter)
	offset, err := strconv.ParseInt(text, 10, 64)
	if err != nil || offset < 0 {
		return nil, refuse(http.StatusBadRequest, "the parameter %s is %.32q: write the offset of the part in the file", eventlog.OffsetParameter, text)
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(r.bodyTimeout)) // each server of Go has it; a recorder of a test has no connection
	content, err := io.ReadAll(http.MaxBytesReader(w, request.Body, eventlog.MaxPart))
	switch {
	case errors.As(err, new(*http.MaxBytesError)):
		return nil, refuse(http.StatusRequestEntityTooLarge, "the part has more than %d bytes: send it in smaller ones", eventlog.MaxPart)
	case err != nil:
		return nil, refuse(http.StatusRequestTimeout, "the body did not end within %s", r.bodyTimeout)
	}
	return s.store(request.Context(), name, offset, content, r.maxBytes())
}

// fail answers with an error.
func (r *Receiver) fail(w http.ResponseWriter, request *http.Request, err error) {
	status, reason := http.StatusInternalServerError, err.Error()
	var refused *refusal
	switch {
	case errors.As(err, &refused):
		status = refused.status
	case errors.Is(err, access.ErrUnauthenticated):
		status = http.StatusUnauthorized
	case errors.Is(err, access.ErrNotAllowed):
		status = http.StatusForbidden
	case errors.Is(err, access.ErrUnavailable):
		status = http.StatusServiceUnavailable
	case archive.IsStorage(err): // its text may name what is none of the tenant's business
		status, reason = http.StatusServiceUnavailable, "the archive cannot be reached: the log of the service has the reason"
	}
	if status >= http.StatusInternalServerError && request.Context().Err() == nil {
		r.logger.Warnw("a part of an event log was not stored", "path", request.URL.Path, zap.Error(err))
	}
	if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", retryAfter)
	}
	http.Error(w, reason, status)
}
