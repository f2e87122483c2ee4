package session

import (
	"crypto/rand"
	"crypto/subtle"
	"net/http"
	"net/url"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// LinkLife is how long a Link may be used.
const LinkLife = 5 * time.Minute

// linkField is the parameter that holds the secret of a Link.
const linkField = "link"

// Link begins a session once, for the browser that follows it in time. It takes the place of the form if a console has one user.
type Link struct {
	token, secret string
	clock         clock.PassiveClock
	ends          time.Time
	// mutex guards the end of used, which is closed by the first use.
	mutex sync.Mutex
	used  chan struct{}
}

// NewLink returns a link that begins a session with a token.
func NewLink(token string, clock clock.PassiveClock) *Link {
	return &Link{token: token, secret: rand.Text(), clock: clock, ends: clock.Now().Add(LinkLife), used: make(chan struct{})}
}

// Path returns the path of the link, below the prefix of all pages. It is a secret.
func (l *Link) Path() string { return signInPath + "?" + url.Values{linkField: {l.secret}}.Encode() }

// Used is closed as soon as the link was used.
func (l *Link) Used() <-chan struct{} { return l.used }

// Why a link begins no session.
const (
	problemNoLink = "This browser has no session. It begins by the link that the console printed when it started. That link is good for one browser, once, and the " +
		"session for 12 hours: start the command again for another one."
	problemUsed = "Another browser has used the link, and it is good for one. If that was not you, stop the command: somebody else may see your pages. Start it again for " +
		"another link."
	problemOver = "The link is over: it is good for 5 minutes. Start the command again for another one."
)

// use uses the link if a secret is that of the link: problem is empty then. Otherwise it says why it begins no session.
func (l *Link) use(secret string) (problem string) {
	if subtle.ConstantTimeCompare([]byte(secret), []byte(l.secret)) != 1 {
		return problemNoLink
	}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	select {
	case <-l.used:
		return problemUsed
	default:
	}
	if !l.ends.After(l.clock.Now()) {
		return problemOver
	}
	close(l.used)
	return ""
}

// followLink begins the session of the link. A user who has a session is sent to the page that was asked for.
func (s *Sessions) followLink(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	if _, err := s.session(r); err == nil {
		http.Redirect(w, r, s.local(query.Get(nextField)), http.StatusSeeOther) //nolint:gosec // it is a page of the console
		return
	}
	switch r.Method {
	case http.MethodGet:
	case http.MethodHead:
		s.Pages.Problem(w, r, http.StatusUnauthorized, problemNoLink)
		return
	default:
		w.Header().Set("Allow", "GET, HEAD")
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	if problem := s.Link.use(query.Get(linkField)); problem != "" {
		s.Pages.Problem(w, r, http.StatusUnauthorized, problem)
		return
	}
	if err := s.Begin(w, r, s.Link.token); err != nil {
		s.Pages.Problem(w, r, http.StatusInternalServerError, "The session cannot begin: "+err.Error()+".")
		return
	}
	http.Redirect(w, r, s.prefix()+"/", http.StatusSeeOther)
}
