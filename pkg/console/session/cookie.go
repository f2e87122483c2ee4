package session

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

const (
	// cookieBytes is how much of a session one cookie holds: browsers accept 4096 bytes with name and attributes.
	cookieBytes = 3800
	// cookies is how many there are at most. Proxies bound a header, often to 8 KiB.
	cookies = 2
	// MaxTokenBytes is the longest token that fits into the cookies: what is added to it, and its text in base64.
	MaxTokenBytes = cookies*cookieBytes*3/4 - 300
)

// content is what a session's cookies hold.
type content struct {
	// ID is random. Tokens of forms are bound to it.
	ID    string `json:"i"`
	Token string `json:"t"`
	// Began and Ends are in seconds since 1970.
	Began int64 `json:"b"`
	Ends  int64 `json:"e"`
}

// cookieName is the name of the first cookie, without its prefix.
const cookieName = "firesteel-session"

// newCookieName returns a name that is known to this process and its browser alone. Each server of a host can set a cookie for all of its ports, and
// a second cookie of one name would end the session.
func newCookieName() string { return cookieName + "-" + strings.ToLower(rand.Text()) }

// cookieName returns the name of the first cookie. By the prefixes of names, browsers accept the cookie over HTTPS only; __Host- accepts it
// from this very host only, too.
func (s *Sessions) cookieName(secure bool) string {
	switch {
	case !secure:
		return s.name
	case s.prefix() == "":
		return "__Host-" + s.name
	default:
		return "__Secure-" + s.name
	}
}

// names returns the names of all cookies of a text.
func names(first string) [cookies]string { return [cookies]string{first, first + "-2"} }

// Cookie is a text in a browser that no script reads. A long one takes two cookies.
type Cookie struct {
	Name, Path string
	Secure     bool
	Life       time.Duration
}

// Set sets the cookies. It fails if the text is too long for them.
func (c Cookie) Set(w http.ResponseWriter, text string) error {
	if len(text) > cookies*cookieBytes {
		return fmt.Errorf("the text has %d bytes, and cookies hold at most %d", len(text), cookies*cookieBytes)
	}
	for _, name := range names(c.Name) {
		part := text[:min(len(text), cookieBytes)]
		text = text[len(part):]
		if part != "" {
			c.set(w, name, part, int(c.Life/time.Second))
		}
	}
	return nil
}

// set sets a cookie. A negative age removes it.
func (c Cookie) set(w http.ResponseWriter, name, value string, age int) {
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // without HTTPS it is not Secure: browsers would not send it through a forwarded port
		Name: name, Value: value, Path: c.Path, MaxAge: age, Secure: c.Secure, HttpOnly: true,
		// Links from other sites, such as those in a chat, open the page. Nothing changes by following a link, and forms have tokens.
		SameSite: http.SameSiteLaxMode,
	})
}

// remove removes the cookies that a request has, but the first ones.
func (c Cookie) remove(w http.ResponseWriter, r *http.Request, first int) {
	for i, name := range names(c.Name) {
		if _, err := r.Cookie(name); i >= first && err == nil {
			c.set(w, name, "", -1)
		}
	}
}

// Read returns the text in the cookies of a request; empty if there is none. A cookie that is there twice is an error: another host of the domain,
// or another path, may have set one of them.
func (c Cookie) Read(r *http.Request) (string, error) {
	var text strings.Builder
	for _, name := range names(c.Name) {
		found := r.CookiesNamed(name)
		if len(found) > 1 {
			return "", fmt.Errorf("the cookie %s is there %d times", name, len(found))
		}
		if len(found) == 1 {
			text.WriteString(found[0].Value)
		}
	}
	return text.String(), nil
}

// cookie returns the cookie of the session of a request.
func (s *Sessions) cookie(r *http.Request) Cookie {
	secure := s.Secure(r)
	return Cookie{Name: s.cookieName(secure), Path: s.prefix() + "/", Secure: secure}
}

// forSessions is what the text of a session is sealed for.
const forSessions = "session 1"

// write sets the cookies of a session.
func (s *Sessions) write(w http.ResponseWriter, r *http.Request, c content) error {
	encoded, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("encode the session: %w", err)
	}
	text := base64.RawURLEncoding.EncodeToString(s.Key.Seal(forSessions, encoded))
	cookie := s.cookie(r)
	cookie.Life = time.Unix(c.Ends, 0).Sub(s.Clock.Now())
	if err := cookie.Set(w, text); err != nil {
		return fmt.Errorf("begin the session: %w", err)
	}
	cookie.remove(w, r, (len(text)+cookieBytes-1)/cookieBytes)
	return nil
}

// remove removes the cookies of a session.
func (s *Sessions) remove(w http.ResponseWriter, r *http.Request) { s.cookie(r).remove(w, r, 0) }

// errNoSession means that a request has no session's cookie.
var errNoSession = errors.New("the request has no session")

// read returns the session in the cookies of a request.
func (s *Sessions) read(r *http.Request) (content, error) {
	text, err := s.cookie(r).Read(r)
	switch {
	case err != nil:
		return content{}, err
	case text == "":
		return content{}, errNoSession
	}
	decoded, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return content{}, fmt.Errorf("decode the session: %w", err)
	}
	opened, err := s.Key.Open(forSessions, decoded)
	if err != nil {
		return content{}, fmt.Errorf("open the session: %w", err)
	}
	var c content
	if err := json.Unmarshal(opened, &c); err != nil {
		return content{}, fmt.Errorf("decode the session: %w", err)
	}
	return c, nil
}
