package session

import (
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

// cookieName returns the name of the first cookie. By the prefixes of names, browsers accept the cookie over HTTPS only; __Host- accepts it
// from this very host only, too.
func cookieName(secure bool, prefix string) string {
	const name = "firesteel-session"
	switch {
	case !secure:
		return name
	case prefix == "":
		return "__Host-" + name
	default:
		return "__Secure-" + name
	}
}

// names returns the names of all cookies of a session.
func names(first string) [cookies]string { return [cookies]string{first, first + "-2"} }

// write sets the cookies of a session.
func (s *Sessions) write(w http.ResponseWriter, r *http.Request, c content) error {
	encoded, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("encode the session: %w", err)
	}
	text := base64.RawURLEncoding.EncodeToString(s.Key.seal(encoded))
	if len(text) > cookies*cookieBytes {
		return fmt.Errorf("the session has %d bytes", len(text))
	}
	for _, name := range names(cookieName(s.Secure(r), s.prefix())) {
		part := text[:min(len(text), cookieBytes)]
		text = text[len(part):]
		s.set(w, r, name, part, time.Unix(c.Ends, 0).Sub(s.Clock.Now()))
	}
	return nil
}

// remove removes the cookies of a session.
func (s *Sessions) remove(w http.ResponseWriter, r *http.Request) {
	for _, name := range names(cookieName(s.Secure(r), s.prefix())) {
		s.set(w, r, name, "", 0)
	}
}

// set sets a cookie. An empty one is removed.
func (s *Sessions) set(w http.ResponseWriter, r *http.Request, name, value string, life time.Duration) {
	cookie := &http.Cookie{ //nolint:gosec // without HTTPS it is not Secure: browsers would not send it through a forwarded port
		Name: name, Value: value, Path: s.prefix() + "/", MaxAge: int(life / time.Second), Secure: s.Secure(r), HttpOnly: true,
		// Links from other sites, such as those in a chat, open the page. Nothing changes by following a link, and forms have tokens.
		SameSite: http.SameSiteLaxMode,
	}
	if value == "" {
		if _, err := r.Cookie(name); err != nil {
			return
		}
		cookie.MaxAge = -1
	}
	http.SetCookie(w, cookie)
}

// errNoSession means that a request has no session's cookie.
var errNoSession = errors.New("the request has no session")

// read returns the session in the cookies of a request. A cookie that is there twice is no session: another host of the domain, or another path,
// may have set one of them.
func (s *Sessions) read(r *http.Request) (content, error) {
	var text strings.Builder
	for _, name := range names(cookieName(s.Secure(r), s.prefix())) {
		found := r.CookiesNamed(name)
		if len(found) > 1 {
			return content{}, fmt.Errorf("the cookie %s is there %d times", name, len(found))
		}
		if len(found) == 1 {
			text.WriteString(found[0].Value)
		}
	}
	if text.Len() == 0 {
		return content{}, errNoSession
	}
	decoded, err := base64.RawURLEncoding.DecodeString(text.String())
	if err != nil {
		return content{}, fmt.Errorf("decode the session: %w", err)
	}
	opened, err := s.Key.open(decoded)
	if err != nil {
		return content{}, fmt.Errorf("open the session: %w", err)
	}
	var c content
	if err := json.Unmarshal(opened, &c); err != nil {
		return content{}, fmt.Errorf("decode the session: %w", err)
	}
	return c, nil
}
