package sparkui

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/access"
	"github.com/firesteel-dev/firesteel/pkg/console"
	"github.com/firesteel-dev/firesteel/pkg/console/api"
	"github.com/firesteel-dev/firesteel/pkg/console/session"
	"github.com/firesteel-dev/firesteel/pkg/history"
)

// Runs know the applications whose drivers run.
type Runs interface {
	// Running calls a function for each one that a reader may list, the newest first, until it returns false.
	Running(ctx context.Context, reader console.Reader, each func(Run) bool) error
	// Named returns the one in a namespace that fits, whether the user may read it or not; false if there is none.
	Named(namespace string, fits func(Run) bool) (Run, bool)
}

// Run is an attempt whose driver runs.
type Run struct {
	Ref
	UID     types.UID
	Attempt int64
	User    string
	Started time.Time
}

// SparkAPI begins the paths of Spark's REST API.
const SparkAPI = "/api/v1"

// API serves Spark's REST API for all applications: /api/v1/... of the console's origin. It takes bearer tokens, and no cookie. A client that knows
// Basic authentication only sends the token as the password.
func (s *SparkUIs) API(guard console.Guard) http.Handler {
	mux := http.NewServeMux()
	serve := func(path string, answer func(w http.ResponseWriter, r *http.Request, reader console.Reader) error) {
		mux.HandleFunc("GET "+SparkAPI+path, func(w http.ResponseWriter, r *http.Request) {
			if err := s.answer(w, r, guard, answer); err != nil {
				s.failAPI(w, r, err)
			}
		})
	}
	serve("/version", s.version)
	serve("/applications", s.list)
	serve("/applications/{id}", s.one)
	serve("/applications/{id}/{rest...}", s.part)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		writeAPIError(w, http.StatusNotFound, "NotFound", "there is nothing here: GET /api/v1/applications lists applications")
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// What drivers answer is their tenants': no browser may run it, or keep it.
		w.Header().Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; sandbox")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-store")
		switch path := r.URL.EscapedPath(); {
		case len(r.URL.RawQuery) > maxPathBytes || len(path) > maxPathBytes:
			writeAPIError(w, http.StatusRequestURITooLong, "TooLong", "the address is too long")
		case r.ContentLength != 0:
			w.Header().Set("Connection", "close") // the server waits for the rest of a body otherwise
			writeAPIError(w, http.StatusBadRequest, "BadRequest", "the request has a body: send none")
		case !isPlain(path): // a mux would redirect to a clean path
			writeAPIError(w, http.StatusNotFound, "NotFound", "there is nothing here: paths of this API have no escapes")
		case isOfOtherSite(r):
			writeAPIError(w, http.StatusForbidden, "Forbidden", "a page of another site sent the request: open the address yourself, or ask with a program")
		default:
			mux.ServeHTTP(w, r)
		}
	})
}

// answer authenticates a request, counts it, and answers it.
func (s *SparkUIs) answer(w http.ResponseWriter, r *http.Request, guard console.Guard, answer func(http.ResponseWriter, *http.Request, console.Reader) error) error {
	ctx, cancel := context.WithTimeout(r.Context(), answerTimeout)
	defer cancel()
	r = r.WithContext(ctx)
	if _, token, isBasic := r.BasicAuth(); isBasic {
		r.Header = r.Header.Clone()
		r.Header.Set("Authorization", "Bearer "+token)
	}
	if r.Header.Get("Authorization") == "" && r.Header.Get(api.TokenHeader) == "" && r.Header.Get(session.UserHeader) == "" {
		return access.ErrUnauthenticated // a cookie is for pages
	}
	reader, err := guard.Reader(r)
	if err != nil {
		return err
	}
	slot := "api " + reader.Key()
	if !s.enter(slot) {
		return access.ErrBusy
	}
	defer s.leave(slot)
	_ = http.NewResponseController(w).SetWriteDeadline(s.Clock.Now().Add(answerTimeout)) // a recorder of tests has none
	return answer(w, r, reader)
}

// apiError is an answer of the API that is no success.
type apiError struct {
	status          int
	reason, message string
}

func (e *apiError) Error() string { return e.message }

// absentID is the answer about what there is not, and about what the reader may not read: both are the same.
func absentID(id string) error {
	return &apiError{http.StatusNotFound, "NotFound", "the application " + id + " does not exist, or you may not read it: one that runs needs get of its kind, one that is over get of pods/log in its namespace"}
}

func (s *SparkUIs) failAPI(w http.ResponseWriter, r *http.Request, err error) {
	var known *apiError
	switch {
	case errors.As(err, &known):
		writeAPIError(w, known.status, known.reason, known.message)
	case errors.Is(err, access.ErrUnauthenticated):
		w.Header().Set("WWW-Authenticate", `Bearer realm="firesteel"`)
		writeAPIError(w, http.StatusUnauthorized, "Unauthorized", "the request needs a valid bearer token of the cluster, or one as the password of Basic authentication")
	case errors.Is(err, access.ErrBusy):
		w.Header().Set("Retry-After", "1")
		writeAPIError(w, http.StatusTooManyRequests, "TooManyRequests", "too many requests are under way: try again")
	default:
		s.Logger.Errorw("request failed", "path", r.URL.Path, zap.Error(err))
		writeAPIError(w, http.StatusServiceUnavailable, "ServiceUnavailable", "the API server cannot be asked what you may read: try again later")
	}
}

func writeAPIError(w http.ResponseWriter, status int, reason, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(&api.Error{Code: status, Reason: reason, Message: message}) // the client has left
}

// isOfOtherSite reports whether a browser says that a page of another site sent a request: a proxy may have added the user's token. An address that a
// user opens, and a program, are none.
func isOfOtherSite(r *http.Request) bool {
	return !slices.Contains([]string{"", "none", "same-origin"}, r.Header.Get("Sec-Fetch-Site"))
}

// isPlain reports whether a path has nothing that a server could understand in another way.
func isPlain(path string) bool {
	return !strings.ContainsAny(path, "%;\\") && !strings.Contains(path, "//") && !strings.Contains(path+"/", "/./") && !strings.Contains(path+"/", "/../")
}

// version answers with the version of the History Server.
func (s *SparkUIs) version(w http.ResponseWriter, r *http.Request, _ console.Reader) error {
	if s.HistoryServer() == "" {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"spark":"unknown"}`+"\n") // the client has left
		return nil
	}
	return s.fromHistory(w, r, SparkAPI+"/version")
}

// one answers with an application.
func (s *SparkUIs) one(w http.ResponseWriter, r *http.Request, reader console.Reader) error {
	id := r.PathValue("id")
	run, _, err := s.runOf(r, reader, id)
	if err == nil && run != nil {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(s.infoOf(id, run)) // the client has left
		return nil
	}
	if err == nil {
		err = s.mayReadPast(r.Context(), reader, id)
	}
	if err != nil {
		return err
	}
	return s.fromHistory(w, r, SparkAPI+"/applications/"+id)
}

// part answers with a part of an application: from its driver if that runs, or else from the History Server.
func (s *SparkUIs) part(w http.ResponseWriter, r *http.Request, reader console.Reader) error {
	id, rest := r.PathValue("id"), r.PathValue("rest")
	run, driver, err := s.runOf(r, reader, id)
	if err != nil {
		return err
	}
	if run == nil {
		if err := s.mayReadPast(r.Context(), reader, id); err != nil {
			return err
		}
		return s.fromHistory(w, r, SparkAPI+"/applications/"+id+"/"+rest)
	}
	if r.Header.Get("Sec-Fetch-Mode") == "navigate" { // a proxy may add the token, and the page would be the tenant's at the console's origin
		return &apiError{http.StatusForbidden, "Forbidden", "a driver answers here, and a browser does not show it: open the Spark UI by its link in the console, or ask with a program"}
	}
	address, err := s.reach(run.Ref, driver)
	switch {
	case err != nil:
		return &apiError{http.StatusNotFound, "NotFound", err.Error()}
	case strings.Contains(strings.ToLower(rest), "kill"): // Spark ends jobs and stages by GET
		return &apiError{http.StatusForbidden, "Forbidden", "this API changes nothing"}
	case pastPath("/api/" + rest).isLog():
		if err := reader.Check(r.Context(), logsRight(run.Namespace)); errors.Is(err, access.ErrNotAllowed) {
			return absentID(id)
		} else if err != nil {
			return err
		}
	}
	to := &url.URL{Scheme: "http", Host: address, Path: SparkAPI + "/applications/" + driver.ApplicationID + "/" + rest}
	return s.pass(w, r, to, ofDriver)
}

// runOf returns the application with an ID whose driver runs, if the reader may read it; nil if there is none.
func (s *SparkUIs) runOf(r *http.Request, reader console.Reader, id string) (*Run, *Driver, error) {
	namespace, isOf := history.NamespaceOf(id)
	living, err := reader.Namespace(r.Context(), namespace)
	if errors.Is(err, console.ErrNoNamespace) {
		return nil, nil, absentID(id)
	}
	if err != nil || !isOf(living.UID) {
		return nil, nil, err
	}
	run, found := s.Runs.Named(namespace, func(run Run) bool { return run.id(living.UID) == id })
	if !found {
		return nil, nil, nil
	}
	driver, found := s.Drivers.Driver(run.Ref)
	if !found || driver.UID != run.UID || !driver.Runs {
		return nil, nil, nil // it has just ended
	}
	if err := reader.Check(r.Context(), run.right("get")); errors.Is(err, access.ErrNotAllowed) {
		return nil, nil, absentID(id)
	} else if err != nil {
		return nil, nil, err
	}
	return &run, driver, nil
}

// mayReadPast returns nil if a reader may read the application of an ID in the History Server: what is in an event log needs the right to logs.
func (s *SparkUIs) mayReadPast(ctx context.Context, reader console.Reader, id string) error {
	namespace, isOf := history.NamespaceOf(id)
	if s.HistoryServer() == "" {
		return absentID(id)
	}
	switch err := reader.Check(ctx, logsRight(namespace)); {
	case errors.Is(err, access.ErrNotAllowed):
		return absentID(id)
	case err != nil:
		return err
	}
	living, err := reader.Namespace(ctx, namespace)
	if errors.Is(err, console.ErrNoNamespace) || err == nil && !isOf(living.UID) {
		return absentID(id)
	}
	return err
}

// fromHistory passes a path of the History Server on.
func (s *SparkUIs) fromHistory(w http.ResponseWriter, r *http.Request, path string) error {
	to, err := url.Parse(s.HistoryServer())
	if err != nil {
		return err
	}
	to.Path = path
	return s.pass(w, r, to, ofHistoryServer)
}

// passed is how the answers of a server are passed back.
type passed struct {
	// headers and kinds are the headers and the content types that pass. Any other type is plain text.
	headers, kinds []string
	// problem is the message if there is no answer.
	problem string
}

// Of a driver no file passes: its tenant would choose what a browser downloads from the console's origin.
var (
	ofDriver = passed{
		headers: []string{"Content-Encoding", "Content-Length"}, kinds: []string{"application/json"},
		problem: "the driver does not answer: it may be starting, or busy, or a NetworkPolicy keeps the console from it",
	}
	ofHistoryServer = passed{
		headers: []string{"Content-Encoding", "Content-Length", "Content-Disposition"}, kinds: []string{"application/json", "application/octet-stream", "application/zip"},
		problem: "the History Server does not answer: try again",
	}
)

// pass passes a request on, and the answer back.
func (s *SparkUIs) pass(w http.ResponseWriter, r *http.Request, to *url.URL, of passed) error {
	to.RawQuery = r.URL.RawQuery
	request, err := http.NewRequestWithContext(r.Context(), http.MethodGet, to.String(), nil)
	if err != nil {
		return err
	}
	copyHeaders(request.Header, r.Header, []string{"Accept", "Accept-Encoding"})
	request.Header.Set("User-Agent", "firesteel-console")
	answer, err := s.transport.RoundTrip(request)
	if err != nil {
		s.Logger.Debugw("Spark does not answer", "path", r.URL.Path, zap.Error(err))
		return &apiError{http.StatusBadGateway, "BadGateway", of.problem}
	}
	defer func() { _ = answer.Body.Close() }() // it was read
	if answer.StatusCode < http.StatusOK || answer.StatusCode >= http.StatusMultipleChoices && answer.StatusCode < http.StatusBadRequest {
		return &apiError{http.StatusBadGateway, "BadGateway", "Spark leads elsewhere, and the console does not follow it there"}
	}
	copyHeaders(w.Header(), answer.Header, of.headers)
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	for _, kind := range of.kinds {
		if strings.HasPrefix(answer.Header.Get("Content-Type"), kind) {
			w.Header().Set("Content-Type", kind)
		}
	}
	w.WriteHeader(answer.StatusCode)
	_, _ = io.Copy(flushing{w, http.NewResponseController(w)}, answer.Body) // the client or the server has left
	return nil
}
