package session

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"k8s.io/client-go/util/flowcontrol"

	"github.com/firesteel-dev/firesteel/pkg/access"
)

const (
	signInPath = "/sign-in"
	nextField  = "next"
	// whyField is why a request is sent to the form.
	whyField, whyOver, whyUndone = "why", "over", "undone"
	// tryBurst and tryRate bound the tries of one client: some at once, then one in five seconds.
	tryBurst = 10
	tryRate  = 0.2
	// maxClients bounds the clients whose tries are counted, and countFor how long.
	maxClients = 4096
	countFor   = 10 * time.Minute
)

// SignIn serves the form, and takes it; or it serves the link, if there is one.
func (s *Sessions) SignIn() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case s.Link != nil:
			s.followLink(w, r)
		case r.Method == http.MethodGet, r.Method == http.MethodHead:
			if _, err := s.session(r); err == nil {
				http.Redirect(w, r, s.local(r.URL.Query().Get(nextField)), http.StatusSeeOther) //nolint:gosec // it is a page of the console
				return
			}
			s.show(w, r, http.StatusOK, r.URL.Query().Get(nextField), reasons[r.URL.Query().Get(whyField)])
		case r.Method == http.MethodPost:
			s.signIn(w, r)
		default:
			w.Header().Set("Allow", "GET, HEAD, POST")
			w.WriteHeader(http.StatusMethodNotAllowed)
		}
	})
}

// reasons say why the form is shown.
var reasons = map[string]string{
	whyOver:   "Your session is over. Sign in again: then you are back on the page.",
	whyUndone: "Your session is over, and nothing was done. Sign in again: then you are back on the page, and can repeat it there.",
}

// show writes the page with the form.
func (s *Sessions) show(w http.ResponseWriter, r *http.Request, status int, next, problem string) {
	form := Form{Action: s.prefix() + signInPath, Next: s.local(next), Problem: problem}
	if form.Insecure = !s.Secure(r) && !isLocal(r); form.Insecure {
		form.Problem = "Your connection to the console is not encrypted, and a token would be readable on its way. Open the console by https, or through " +
			"a forwarded port: kubectl port-forward -n firesteel-system service/console 8080:80, and then http://localhost:8080."
	}
	s.Pages.SignIn(w, r, status, form)
}

func (s *Sessions) signIn(w http.ResponseWriter, r *http.Request) {
	if !s.isWrittenByOwnPages(r) {
		s.Pages.Problem(w, r, http.StatusForbidden, "The form comes from a page that is not the console's. Open the console, and sign in there.")
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxFormBytes)
	token, next := strings.TrimSpace(r.PostFormValue("token")), r.PostFormValue(nextField)
	token = strings.TrimSpace(strings.TrimPrefix(token, "Bearer "))
	switch {
	case !s.Secure(r) && !isLocal(r):
		s.show(w, r, http.StatusForbidden, next, "")
		return
	case token == "":
		s.show(w, r, http.StatusBadRequest, next, "The token is empty. Paste one.")
		return
	case len(token) > MaxTokenBytes:
		s.show(w, r, http.StatusBadRequest, next, fmt.Sprintf("The token has %d bytes, and a browser's cookies hold at most %d. Use the token of a service account, "+
			"let the identity provider put fewer groups into it, or use the console through a proxy that sends the token with each request.", len(token), MaxTokenBytes))
		return
	case !s.try(r):
		w.Header().Set("Retry-After", "5")
		s.show(w, r, http.StatusTooManyRequests, next, "There were too many tries. Wait some seconds.")
		return
	}
	_, err := s.Users.Reader(r.Context(), token)
	switch {
	case errors.Is(err, access.ErrUnauthenticated):
		s.show(w, r, http.StatusUnauthorized, next, "The API server does not accept the token: it may have expired, or be of another cluster. Get a new one.")
		return
	case err != nil:
		s.show(w, r, http.StatusServiceUnavailable, next, "The API server cannot be asked whose token this is. Try again later.")
		return
	}
	if err := s.Begin(w, r, token); err != nil {
		s.show(w, r, http.StatusInternalServerError, next, "The session cannot begin. The log of the console says why.")
		return
	}
	http.Redirect(w, r, s.local(next), http.StatusSeeOther) //nolint:gosec // it is a page of the console
}

// SignOut ends the session of a request that Require let through.
func (s *Sessions) SignOut() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			w.Header().Set("Allow", http.MethodPost)
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		s.remove(w, r)
		w.Header().Set("Clear-Site-Data", `"cache"`)
		http.Redirect(w, r, s.prefix()+signInPath, http.StatusSeeOther)
	})
}

// try counts a try of a client. It reports whether the client has not tried too often.
func (s *Sessions) try(r *http.Request) bool {
	client, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		client = r.RemoteAddr
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	counter, ok := s.tries.Get(client)
	if !ok {
		counter = flowcontrol.NewTokenBucketPassiveRateLimiterWithClock(tryRate, tryBurst, s.Clock)
		s.tries.Add(client, counter, countFor)
	}
	return counter.(flowcontrol.PassiveRateLimiter).TryAccept()
}

// local returns a page of the console: the one that is given or, if that is none, the first.
func (s *Sessions) local(next string) string {
	first := s.prefix() + "/"
	address, err := url.Parse(next)
	// Browsers take \ for /, and ignore line ends and tabs: //host and /\host are other hosts.
	if err != nil || address.Scheme != "" || address.Host != "" || address.User != nil || strings.ContainsAny(next, "\\\t\r\n") ||
		!strings.HasPrefix(next, first) || strings.HasPrefix(next, "//") || path.Clean(address.Path) == s.prefix()+signInPath {
		return first
	}
	return next
}
