package pages

import (
	"errors"
	"net/http"

	"github.com/firesteel-dev/firesteel/pkg/access"
	"github.com/firesteel-dev/firesteel/pkg/console/api"
	"github.com/firesteel-dev/firesteel/pkg/console/live"
)

// problemView is a page that says what went wrong.
type problemView struct {
	Status  int
	Heading string
	Message string
}

// fail answers with an error.
func (s *Server) fail(v *view, err error) {
	var parameter *live.ParameterError
	var log *logError
	var refusal *Refusal
	var archived *api.Error
	status, message := http.StatusInternalServerError, "The console has an error of its own. Its log says more."
	switch {
	case errors.Is(err, errNotFound):
		status, message = http.StatusNotFound, err.Error()
	case errors.As(err, &parameter):
		status, message = http.StatusBadRequest, parameter.Error()
	case errors.As(err, &refusal):
		status, message = refusal.Status, refusal.Message
	case errors.As(err, &archived) && archived.Code != http.StatusUnauthorized:
		status, message = archived.Code, "The archive does not show it: "+archived.Message+"."
	case errors.As(err, &log):
		status, message = http.StatusBadGateway, "The log cannot be read: "+log.Error()
	case archived != nil, errors.Is(err, access.ErrUnauthenticated):
		status, message = http.StatusUnauthorized, "Your session is over: sign in again."
	case errors.Is(err, access.ErrUnavailable):
		status, message = http.StatusServiceUnavailable, "The API server did not say what you may see. Try again in a moment."
	default:
		s.options.Logger.Errorw("page failed", "path", v.URL.Path, "error", err)
	}
	s.Problem(v.w, v.Request, status, message)
}

// Problem writes a page with a status and a message.
func (s *Server) Problem(w http.ResponseWriter, r *http.Request, status int, message string) {
	p := s.newPage(r, http.StatusText(status), "")
	if viewer, err := s.options.Viewers(r); err == nil {
		s.viewed(p, viewer)
	}
	p.Body = problemView{Status: status, Heading: http.StatusText(status), Message: message}
	if err := render(w, r, status, "problem", p); err != nil {
		s.options.Logger.Errorw("page failed", "path", r.URL.Path, "error", err)
		http.Error(w, message, status)
	}
}

// SignIn is the form with which users sign in.
type SignIn struct {
	// Action is where the form is sent, Next the page to which it leads.
	Action, Next string
	// Problem is why the last try failed, or why none can be made; empty if nothing is wrong.
	Problem string
	// Insecure reports whether the connection is not encrypted. Then there is no form.
	Insecure bool
}

// SignIn writes the form.
func (s *Server) SignIn(w http.ResponseWriter, r *http.Request, status int, form SignIn) {
	p := s.newPage(r, "Sign in", "")
	p.Body = form
	if err := render(w, r, status, "signin", p); err != nil {
		s.options.Logger.Errorw("page failed", "path", r.URL.Path, "error", err)
		http.Error(w, "The form cannot be shown. The log of the console says why.", http.StatusInternalServerError)
	}
}
