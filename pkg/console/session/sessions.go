package session

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/cache"
	"k8s.io/utils/clock"

	"github.com/firesteel-dev/firesteel/pkg/access"
	"github.com/firesteel-dev/firesteel/pkg/console"
	"github.com/firesteel-dev/firesteel/pkg/console/api"
)

// MaxLife is how long a session lasts at most.
const MaxLife = 12 * time.Hour

// Users know whose token it is.
type Users interface {
	// Reader returns the user of a token. Its errors are access.ErrUnauthenticated, access.ErrBusy and access.ErrUnavailable.
	Reader(ctx context.Context, token string) (console.Reader, error)
}

// Pages are the pages that a Sessions shows.
type Pages interface {
	Problems
	// SignIn writes the page with the form.
	SignIn(w http.ResponseWriter, r *http.Request, status int, form Form)
}

// Problems show what went wrong.
type Problems interface {
	// Problem writes a page with a status and a message.
	Problem(w http.ResponseWriter, r *http.Request, status int, message string)
}

// Form is what the page with the form shows.
type Form struct {
	// Action is where the form is sent. It has the fields token and next.
	Action string
	// Next is the page that is shown after it: the value of the field next.
	Next string
	// Problem is what was wrong; empty at first.
	Problem string
	// Insecure means that no form may be shown: the connection is not encrypted.
	Insecure bool
}

// Options are what a Sessions needs.
type Options struct {
	Key   *Key
	Users Users
	Pages Pages
	Clock clock.PassiveClock
	// Address returns the address by which browsers reach the console, without a slash at its end; empty if that is not known. Its path is
	// the prefix of all pages.
	Address func() string
	// Link begins the only session in the place of the form; nil for the form.
	Link *Link
	// Proxy is trusted to say who users are; nil if none is.
	Proxy *Proxy
}

// Sessions knows who sends a request. It is a console.Guard.
type Sessions struct {
	Options
	// name is that of the first cookie, without its prefix.
	name string
	// mutex guards tries, which bound the tries to sign in, by client.
	mutex sync.Mutex
	tries *cache.LRUExpireCache
}

// New returns a Sessions.
func New(options Options) *Sessions {
	s := &Sessions{Options: options, name: cookieName, tries: cache.NewLRUExpireCacheWithClock(maxClients, options.Clock)}
	if s.Link != nil { // it is on a user's machine, and has one process
		s.name = newCookieName()
	}
	return s
}

// Session is a user who is signed in.
type Session struct {
	// Reader is the user.
	console.Reader
	// Ends is when the session ends; zero if the token has no end that the console knows.
	Ends time.Time
	// CanSignOut reports whether the console can end the session: it cannot if a proxy sends the token with each request.
	CanSignOut bool
	// Token is the user's own, or what a Proxy has in its place. It is for requests to the API server alone.
	Token string

	sessions *Sessions
	// binding is what tokens of forms are bound to.
	binding string
}

// Reader returns the user of a request: of its bearer token or, if it has none, of its session.
func (s *Sessions) Reader(r *http.Request) (console.Reader, error) {
	session, err := s.session(r)
	if err != nil {
		return nil, err
	}
	return session.Reader, nil
}

// session returns the session of a request. Its errors are access.ErrUnauthenticated and access.ErrUnavailable.
func (s *Sessions) session(r *http.Request) (*Session, error) {
	if !isWrite(r.Method) && !IsReadByOwnPages(r) {
		return nil, fmt.Errorf("%w: %w", access.ErrUnauthenticated, errForeign)
	}
	session := &Session{sessions: s}
	ofProxy, err := s.Proxy.credential(r.Header)
	if err != nil {
		return nil, err
	}
	if token, given := bearerToken(r.Header); ofProxy != "" {
		session.Token, session.Ends = ofProxy, s.Clock.Now().Add(proxyLife)
	} else if given {
		session.Token = token
	} else {
		c, err := s.read(r)
		switch {
		case errors.Is(err, errNoSession):
			return nil, fmt.Errorf("%w: the request has no bearer token", access.ErrUnauthenticated)
		case err != nil:
			return nil, errInvalid
		case !time.Unix(c.Ends, 0).After(s.Clock.Now()):
			return nil, errOver
		}
		session.Token, session.CanSignOut, session.Ends = c.Token, true, time.Unix(c.Ends, 0)
		session.binding = "session " + c.ID
	}
	reader, err := s.Users.Reader(r.Context(), session.Token)
	switch {
	case session.CanSignOut && errors.Is(err, access.ErrUnauthenticated):
		return nil, errOver // the token was valid when the session began
	case err != nil:
		return nil, err
	}
	session.Reader = reader
	if !session.CanSignOut && ofProxy == "" {
		session.Ends = endOf(session.Token)
	}
	if !session.CanSignOut {
		session.binding = "user " + reader.Key()
	}
	if !session.Ends.IsZero() && !session.Ends.After(s.Clock.Now()) {
		return nil, errOver
	}
	return session, nil
}

var (
	errOver = fmt.Errorf("%w: the session is over: sign in again", access.ErrUnauthenticated)
	// errInvalid means that the cookies hold no session of this console.
	errInvalid = fmt.Errorf("%w: the session is not valid here: sign in again", access.ErrUnauthenticated)
	// errForeign means that a page of another origin sent the request. The session stays.
	errForeign = errors.New("a page of another origin may not use the session")
)

// Valid returns an error if the token is no longer valid, access.ErrUnauthenticated, or if that is not known, access.ErrUnavailable. A handler that
// answers a request for long calls it each minute.
func (s *Session) Valid(ctx context.Context) error {
	if !s.Ends.IsZero() && !s.Ends.After(s.sessions.Clock.Now()) {
		return errOver
	}
	_, err := s.sessions.Users.Reader(ctx, s.Token)
	return err
}

// Begin begins a session: it sets the cookies. The caller has reviewed the token.
func (s *Sessions) Begin(w http.ResponseWriter, r *http.Request, token string) error {
	now := s.Clock.Now()
	ends := now.Add(MaxLife)
	if end := endOf(token); !end.IsZero() && end.Before(ends) {
		ends = end
	}
	return s.write(w, r, content{ID: rand.Text(), Token: token, Began: now.Unix(), Ends: ends.Unix()})
}

// bearerToken returns the token of a request. given is false if the request has no header for it. A proxy that signs its own requests passes the
// user's token on in the other header: that one counts alone, so that nobody reads as the proxy.
func bearerToken(header http.Header) (token string, given bool) {
	value, given := header.Get("Authorization"), len(header.Values("Authorization")) > 0
	if passed := header.Values(api.TokenHeader); len(passed) > 0 {
		value, given = passed[0], true
	}
	return access.BearerToken(value), given
}

// Secure reports whether the browser's connection is encrypted. What a client claims can only make its own cookies stricter.
func (s *Sessions) Secure(r *http.Request) bool {
	if r.TLS != nil || strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https") {
		return true
	}
	address, err := url.Parse(s.Address())
	return err == nil && address.Scheme == "https" && strings.EqualFold(address.Host, r.Host)
}

// isLocal reports whether the browser runs on the machine that it connects to, such as through a forwarded port: its connection needs no
// encryption.
func isLocal(r *http.Request) bool {
	host, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		host = r.Host
	}
	address, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && address.IsLoopback() || strings.EqualFold(host, "localhost")
}
