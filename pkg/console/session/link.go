package session

import (
	"crypto/rand"
	"crypto/subtle"
	"net/http"
	"net/url"
	"sync"
)

// linkField is the parameter that holds the secret of a Link.
const linkField = "link"

// Link begins a session once, for the browser that follows it. It takes the place of the form if a console has one user.
type Link struct {
	token string
	// mutex guards secret, which is empty after its use.
	mutex  sync.Mutex
	secret string
}

// NewLink returns a link that begins a session with a token.
func NewLink(token string) *Link { return &Link{token: token, secret: rand.Text()} }

// Path returns the path of the link, below the prefix of all pages. It is a secret until it is used; then it is empty.
func (l *Link) Path() string {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.secret == "" {
		return ""
	}
	return signInPath + "?" + url.Values{linkField: {l.secret}}.Encode()
}

// use reports whether a secret is that of the link. That is so once.
func (l *Link) use(secret string) bool {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.secret == "" || subtle.ConstantTimeCompare([]byte(secret), []byte(l.secret)) != 1 {
		return false
	}
	l.secret = ""
	return true
}

// followLink begins the session of the link. Whoever has a session is sent to the page that was asked for.
func (s *Sessions) followLink(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	if _, err := s.session(r); err == nil {
		http.Redirect(w, r, s.local(query.Get(nextField)), http.StatusSeeOther) //nolint:gosec // it is a page of the console
		return
	}
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		w.WriteHeader(http.StatusMethodNotAllowed)
	case r.Method == http.MethodHead || !s.Link.use(query.Get(linkField)):
		s.Pages.Problem(w, r, http.StatusUnauthorized, "This browser has no session. It begins by the link that the console printed when it started. That link is good for one "+
			"browser, once, and the session for 12 hours: start the console again for another one.")
	default:
		if err := s.Begin(w, r, s.Link.token); err != nil {
			s.Pages.Problem(w, r, http.StatusInternalServerError, "The session cannot begin: "+err.Error()+".")
			return
		}
		http.Redirect(w, r, s.prefix()+"/", http.StatusSeeOther)
	}
}
