package session_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/firesteel-dev/firesteel/pkg/console/session"
)

func TestLinkBeginsOneSession(t *testing.T) {
	e := newEnv(t)
	e.sessions.Link = session.NewLink("a-token")
	link := e.sessions.Link.Path()
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
	if got := e.send(other, http.MethodGet, link, nil); got.StatusCode != http.StatusUnauthorized || len(got.Cookies()) > 0 {
		t.Errorf("the link in another browser: %d %q", got.StatusCode, got.body)
	}
	if path := e.sessions.Link.Path(); path != "" {
		t.Errorf("after its use, the link is %q", path)
	}
}
