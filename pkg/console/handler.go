package console

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/firesteel-dev/firesteel/pkg/access"
	"github.com/firesteel-dev/firesteel/pkg/archive"
	"github.com/firesteel-dev/firesteel/pkg/console/api"
	"github.com/firesteel-dev/firesteel/pkg/fairshare"
)

const (
	// answerTimeout bounds a request that is no log.
	answerTimeout = 30 * time.Second
	// streamTimeout bounds a log. A client that reads just fast enough would hold it for ever.
	streamTimeout = time.Hour
	// maxRequests bounds the requests under way, and maxOfReader those of one reader.
	maxRequests, maxOfReader = 256, 16
	// maxInMemory bounds the requests whose answer, or a part of the archive, is held in memory, and maxInMemoryOfReader those of one reader. The others
	// wait. Logs are streamed, and take 170 KiB each.
	maxInMemory, maxInMemoryOfReader = 12, 4
	// maxCompressed bounds the logs that are compressed while they are sent, which takes 900 KiB each. Further ones are sent as they are.
	maxCompressed = 32
	// maxQuery and maxPath bound what a client writes.
	maxQuery, maxPath = 4 << 10, 4 << 10
)

//go:embed openapi.json
var openAPI []byte

// handler serves the API.
type handler struct {
	guard    Guard
	archives Archives
	logger   *zap.SugaredLogger
	// inMemory has the slots of maxInMemory, by reader, and compressed those of maxCompressed.
	inMemory   *fairshare.Limiter
	compressed chan struct{}
	// sessionPeriod is that of the constant; shorter in tests.
	sessionPeriod time.Duration

	mutex sync.Mutex
	// running counts the requests under way, by reader.
	running map[string]int
	total   int
}

// Route is a path of the API, and what serves it.
type Route struct {
	// Path is the path below the API's prefix, as a pattern of http.ServeMux.
	Path string
	// Serve answers a request. Its error is one of Invalid, NotFound or package access; others are logged.
	Serve func(*Request) error
	// Streams reports whether the answer may take as long as the client reads, up to an hour.
	Streams bool
}

const (
	applicationPath = "/namespaces/{namespace}/applications/{resource}/{name}"
	attemptPath     = applicationPath + "/{uid}/attempts/{attempt}"
)

// routes are the routes about the archive.
func (h *handler) routes() []Route {
	held := func(path string, serve func(*Request) error) Route {
		return Route{Path: path, Serve: func(q *Request) error { return h.holding(q, func() error { return serve(q) }) }}
	}
	return []Route{
		held("/namespaces", h.namespaces),
		held("/namespaces/{namespace}/applications", h.list),
		held(applicationPath, h.named),
		held(applicationPath+"/{uid}", h.details),
		held(attemptPath+"/objects/{file}", h.object),
		{Path: attemptPath + "/logs/{pod}/{podUID}/{container}/{restart}", Serve: h.log, Streams: true},
		held(attemptPath+"/eventlogs", h.eventLogs),
	}
}

// NewHandler returns a handler of the API about the archive, and of more routes.
func NewHandler(guard Guard, archives Archives, logger *zap.SugaredLogger, more ...Route) http.Handler {
	return newHandler(guard, archives, logger, sessionPeriod, more)
}

func newHandler(guard Guard, archives Archives, logger *zap.SugaredLogger, sessionPeriod time.Duration, more []Route) http.Handler {
	h := &handler{
		guard: guard, archives: archives, logger: logger, sessionPeriod: sessionPeriod, running: map[string]int{},
		inMemory: fairshare.New(maxInMemory, maxInMemoryOfReader), compressed: make(chan struct{}, maxCompressed),
	}
	mux := http.NewServeMux()
	for _, route := range append(h.routes(), more...) {
		mux.HandleFunc("GET "+api.Prefix+route.Path, func(w http.ResponseWriter, r *http.Request) { h.handle(w, r, route) })
	}
	mux.HandleFunc("GET "+api.Prefix+"/openapi.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(openAPI) // the client has left
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// What is served was written by users: no browser may run it, or keep it.
		w.Header().Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; sandbox")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-store")
		if len(r.URL.RawQuery) > maxQuery || len(r.URL.Path) > maxPath {
			writeError(w, &api.Error{Code: http.StatusRequestURITooLong, Reason: "TooLong", Message: "the address is too long"})
			return
		}
		if r.ContentLength != 0 {
			// The server waits for the rest of a body before it answers. The connection is closed, so that it does not wait for this one.
			w.Header().Set("Connection", "close")
			writeError(w, &api.Error{Code: http.StatusBadRequest, Reason: "BadRequest", Message: "the request has a body: send none"})
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// Request is a request of a reader.
type Request struct {
	*http.Request
	Reader
	w             http.ResponseWriter
	guard         Guard
	sessionPeriod time.Duration
}

// handle authenticates a request and answers it.
func (h *handler) handle(w http.ResponseWriter, r *http.Request, route Route) {
	timeout := answerTimeout
	if route.Streams {
		timeout = streamTimeout
	}
	ctx, cancel := context.WithTimeout(r.Context(), timeout)
	defer cancel()
	r = r.WithContext(ctx)
	reader, err := h.guard.Reader(r)
	if err == nil {
		err = h.begin(reader.Name())
	}
	if err == nil {
		defer h.end(reader.Name())
		err = route.Serve(&Request{Request: r, Reader: reader, w: w, guard: h.guard, sessionPeriod: h.sessionPeriod})
	}
	if err != nil {
		writeError(w, h.explain(r, err))
	}
}

// begin counts a request. Its error is access.ErrBusy if the reader, or all of them, ask too much at once.
func (h *handler) begin(reader string) error {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if h.total >= maxRequests || h.running[reader] >= maxOfReader {
		return access.ErrBusy
	}
	h.total++
	h.running[reader]++
	return nil
}

// holding does work that holds its result, or a part of the archive, in memory. It waits until there is room.
func (h *handler) holding(q *Request, work func() error) error {
	release, err := h.inMemory.Acquire(q.Context(), q.Name())
	if err != nil {
		return err
	}
	defer release()
	return work()
}

func (h *handler) end(reader string) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.total--
	if h.running[reader]--; h.running[reader] == 0 {
		delete(h.running, reader)
	}
}

// invalidError is an error of the request.
type invalidError struct{ message string }

func (e *invalidError) Error() string { return e.message }

// Invalid returns the error of a request with a parameter that cannot be used.
func Invalid(parameter, value, remedy string) error {
	const most = 64
	return &invalidError{fmt.Sprintf("%s is %.*q: %s", parameter, most, value, remedy)}
}

// notFoundError is the answer about everything that there is not, or that the reader may not read. It depends on nothing but the request.
type notFoundError struct {
	what, needs string
	// now reports whether it was asked for in the cluster, and not in the archive.
	now bool
}

func (e *notFoundError) Error() string {
	if e.now {
		return fmt.Sprintf("%s: it does not exist, or you may not read it: that needs %s", e.what, e.needs)
	}
	return fmt.Sprintf("%s: it is not in the archive, or you may not read it: that needs %s", e.what, e.needs)
}

// NotFound returns the error of a request for something in the cluster that does not exist, or that the reader may not read.
func NotFound(what string, needs access.Right) error {
	return &notFoundError{what: what, needs: needs.String(), now: true}
}

// explain returns the answer to a request that failed.
func (h *handler) explain(r *http.Request, err error) *api.Error {
	var notFound *notFoundError
	var wrong *invalidError
	switch {
	case errors.As(err, &notFound):
		return &api.Error{Code: http.StatusNotFound, Reason: "NotFound", Message: err.Error()}
	case errors.As(err, &wrong):
		return &api.Error{Code: http.StatusBadRequest, Reason: "BadRequest", Message: err.Error()}
	case errors.Is(err, access.ErrUnauthenticated):
		return &api.Error{Code: http.StatusUnauthorized, Reason: "Unauthorized", Message: err.Error()}
	case errors.Is(err, access.ErrBusy):
		return &api.Error{Code: http.StatusTooManyRequests, Reason: "TooManyRequests", Message: err.Error()}
	case r.Context().Err() != nil:
		return &api.Error{Code: http.StatusGatewayTimeout, Reason: "Timeout", Message: "the archive or the API server takes too long: try again later"}
	}
	h.logger.Errorw("request failed", "path", r.URL.Path, zap.Error(err))
	if errors.Is(err, access.ErrUnavailable) {
		return &api.Error{Code: http.StatusServiceUnavailable, Reason: "ServiceUnavailable", Message: "the API server cannot be asked what you may read: try again later"}
	}
	return &api.Error{Code: http.StatusBadGateway, Reason: "ArchiveFailed", Message: "the archive cannot be read: the log of the console says why"}
}

func writeError(w http.ResponseWriter, failure *api.Error) {
	switch failure.Code {
	case http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", `Bearer realm="firesteel"`)
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		w.Header().Set("Retry-After", "1")
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(failure.Code)
	_ = json.NewEncoder(w).Encode(failure) // the client has left
}

// Write answers with JSON.
func (q *Request) Write(answer any) error {
	q.w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(q.w).Encode(answer) // the client has left
	return nil
}

// allowed returns nil if the reader has a right, and notFound if not.
func (q *Request) allowed(right access.Right, what string) error {
	err := q.Check(q.Context(), right)
	if errors.Is(err, access.ErrNotAllowed) {
		return &notFoundError{what: what, needs: right.String()}
	}
	return err
}

// source is an archived namespace that a request reads.
type source struct {
	*archive.Archive
	namespace archive.Namespace
}

// open returns the archive of the namespace of a request, after the reader's rights were checked. missing is the answer if there is none.
func (h *handler) open(q *Request, missing error) (source, error) {
	namespace, err := q.Namespace(q.Context(), q.PathValue("namespace"))
	if errors.Is(err, ErrNoNamespace) {
		return source{}, missing
	}
	if err != nil {
		return source{}, err
	}
	stored, err := h.archives.Of(q.Context(), namespace.Name)
	if err != nil {
		return source{}, err
	}
	if stored == nil {
		return source{}, missing
	}
	return source{stored, namespace}, nil
}
