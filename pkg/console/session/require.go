package session

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/firesteel-dev/firesteel/pkg/access"
)

// maxFormBytes bounds a form.
const maxFormBytes = 128 << 10

type contextKey struct{}

// Of returns the session of a request that Require let through.
func Of(ctx context.Context) *Session {
	session, _ := ctx.Value(contextKey{}).(*Session)
	return session
}

// Require lets requests of signed-in users through. Users of pages are sent to the form. What is no read must come from one of the console's own
// pages, and have a token of the session. The context of the request ends with the session, and its cause then is access.ErrUnauthenticated.
func (s *Sessions) Require(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isWrite(r.Method) && !s.isWrittenByOwnPages(r) {
			s.Pages.Problem(w, r, http.StatusForbidden, "The request comes from a page that is not the console's. Nothing was done. Open the console, and act there.")
			return
		}
		session, err := s.session(r)
		var refused *proxyError
		switch {
		case errors.As(err, &refused):
			s.Pages.Problem(w, r, http.StatusForbidden, "Your request was refused: "+refused.message+".")
			return
		case errors.Is(err, access.ErrUnauthenticated):
			if _, given := bearerToken(r.Header); !given && !errors.Is(err, errForeign) {
				s.remove(w, r)
			}
			s.sendToForm(w, r, err)
			return
		case err != nil:
			s.Pages.Problem(w, r, http.StatusServiceUnavailable, "The API server cannot be asked who you are. Try again later.")
			return
		}
		ctx := context.WithValue(r.Context(), contextKey{}, session)
		if !session.Ends.IsZero() {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeoutCause(ctx, session.Ends.Sub(s.Clock.Now()), errOver)
			defer cancel()
		}
		r = r.WithContext(ctx)
		if isWrite(r.Method) {
			r.Body = http.MaxBytesReader(w, r.Body, maxFormBytes)
			if !session.hasFormToken(r) {
				s.Pages.Problem(w, r, http.StatusForbidden, "The page is older than your session. Nothing was done. Load the page again, and repeat it there.")
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

func isWrite(method string) bool { return method != http.MethodGet && method != http.MethodHead }

// sendToForm answers a request without a session. What a script of a page asks for has no page: the script says that the session is over.
func (s *Sessions) sendToForm(w http.ResponseWriter, r *http.Request, reason error) {
	ofScript := r.Header.Get(fetchSite) == "same-origin" && r.Header.Get(fetchDest) == "empty"
	if ofScript || r.Header.Get("HX-Request") != "" || strings.Contains(r.Header.Get("Accept"), "text/event-stream") {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	form := url.Values{}
	switch {
	case isWrite(r.Method): // the page with the form says what will be done: nobody does it twice
		form.Set(whyField, whyUndone)
		if from, err := url.Parse(r.Referer()); err == nil && from.Path != "" {
			form.Set(nextField, from.RequestURI())
		}
	case errors.Is(reason, errOver), errors.Is(reason, errInvalid):
		form.Set(whyField, whyOver)
		fallthrough
	default:
		form.Set(nextField, s.prefix()+r.URL.RequestURI())
	}
	http.Redirect(w, r, s.prefix()+signInPath+"?"+form.Encode(), http.StatusSeeOther)
}
