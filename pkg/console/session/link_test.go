package session_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/firesteel-dev/firesteel/pkg/console/session"
)

// newLinkEnv is newEnv with a link in the place of the form.
func newLinkEnv(t *testing.T) (e *env, link string) {
	t.Helper()
	e = newEnvWith(t, func(e *env, options *session.Options) { options.Link = session.NewLink("a-token", e.clock) })
	return e, e.sessions.Link.Path()
}

func TestLinkBeginsOneSession(t *testing.T) {
	e, link := newLinkEnv(t)
	ann, other := browser(t), browser(t)
	if got := e.send(ann, http.MethodGet, "/", nil); got.StatusCode != http.StatusSeeOther || !strings.HasPrefix(got.Header.Get("Location"), "/sign-in") {
		t.Errorf("without a session: %d %s", got.StatusCode, got.Header.Get("Location"))
	}
	for _, wrong := range []string{"/sign-in", "/sign-in?link=", link + "x", link[:len(link)-1]} {
		if got := e.send(ann, http.MethodGet, wrong, nil); got.StatusCode != http.StatusUnauthorized || len(got.Cookies()) > 0 {
			t.Errorf("%s: %d %q", wrong, got.StatusCode, got.body)
		}
	}
	if got := e.send(ann, http.MethodHead, link, nil); got.StatusCode != http.StatusUnauthorized || len(got.Cookies()) > 0 {
		t.Errorf("what only looks at the link: %d", got.StatusCode)
	}
	if got := e.send(ann, http.MethodPost, link, nil); got.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("a form: %d", got.StatusCode)
	}
	if got := e.send(ann, http.MethodGet, link, nil); got.StatusCode != http.StatusSeeOther || got.Header.Get("Location") != "/" {
		t.Fatalf("the link: %d %q", got.StatusCode, got.body)
	}
	if got := e.send(ann, http.MethodGet, "/", nil); got.StatusCode != http.StatusOK || !strings.Contains(got.body, "user=ann") {
		t.Errorf("the first page: %d %q", got.StatusCode, got.body)
	}
	if got := e.send(ann, http.MethodGet, link, nil); got.StatusCode != http.StatusSeeOther {
		t.Errorf("the link in the browser that has the session: %d", got.StatusCode)
	}
	e.clock.SetTime(e.clock.Now().Add(session.LinkLife))
	if got := e.send(other, http.MethodGet, link, nil); got.StatusCode != http.StatusUnauthorized || len(got.Cookies()) > 0 || !strings.Contains(got.body, "If that was not you, stop the command") {
		t.Errorf("the link in another browser: %d %q", got.StatusCode, got.body)
	}
	if got := e.send(other, http.MethodGet, "/sign-in", nil); strings.Contains(got.body, "Another browser") {
		t.Errorf("who does not know the link: %q", got.body)
	}
}

func TestLinkIsGoodForFiveMinutes(t *testing.T) {
	e, link := newLinkEnv(t)
	e.clock.SetTime(e.clock.Now().Add(5*time.Minute - time.Second))
	if got := e.send(browser(t), http.MethodGet, "/sign-in", nil); strings.Contains(got.body, "over") {
		t.Errorf("without the link: %q", got.body)
	}
	e.clock.SetTime(e.clock.Now().Add(time.Second))
	if got := e.send(browser(t), http.MethodGet, link, nil); got.StatusCode != http.StatusUnauthorized || len(got.Cookies()) > 0 || !strings.Contains(got.body, "Start the command again") {
		t.Errorf("%d %q", got.StatusCode, got.body)
	}
	e, link = newLinkEnv(t)
	e.clock.SetTime(e.clock.Now().Add(5*time.Minute - time.Second))
	if got := e.send(browser(t), http.MethodGet, link, nil); got.StatusCode != http.StatusSeeOther {
		t.Errorf("in time: %d %q", got.StatusCode, got.body)
	}
}

func TestLinkReportsItsUse(t *testing.T) {
	e, link := newLinkEnv(t)
	e.send(browser(t), http.MethodGet, "/sign-in?link=wrong", nil)
	select {
	case <-e.sessions.Link.Used():
		t.Error("a wrong link was used")
	default:
	}
	e.send(browser(t), http.MethodGet, link, nil)
	<-e.sessions.Link.Used()
}

// Each server of the host 127.0.0.1 can set cookies that browsers send to all of its ports.
func TestCookieOfAnotherServerDoesNotEndTheSession(t *testing.T) {
	e, link := newLinkEnv(t)
	ann := browser(t)
	cookie := e.send(ann, http.MethodGet, link, nil).Cookies()[0]
	if got := e.send(ann, http.MethodGet, "/", nil, "Cookie", "firesteel-session=evil; firesteel-session-2=evil"); got.StatusCode != http.StatusOK || !strings.Contains(got.body, "user=ann") {
		t.Errorf("with the cookie of another server: %d %q", got.StatusCode, got.body)
	}
	again, link := newLinkEnv(t)
	if of := again.send(browser(t), http.MethodGet, link, nil).Cookies()[0]; of.Name == cookie.Name {
		t.Errorf("two consoles have the cookie %s", of.Name)
	}
}
