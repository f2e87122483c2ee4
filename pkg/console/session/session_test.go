package session_test

import (
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/firesteel-dev/firesteel/pkg/access"
	"github.com/firesteel-dev/firesteel/pkg/archive"
	"github.com/firesteel-dev/firesteel/pkg/console"
	"github.com/firesteel-dev/firesteel/pkg/console/session"
)

// env is a console with one page. Its users are those whose tokens it knows.
type env struct {
	t        *testing.T
	sessions *session.Sessions
	clock    *testingclock.FakePassiveClock
	// users are the names of users by their tokens.
	users map[string]string
	// failure is the error of each review.
	failure error
	address string
	server  *httptest.Server
	// wrote counts the writes that came through.
	wrote int
}

func newKey(t *testing.T, secret string) *session.Key {
	t.Helper()
	key, err := session.NewKey([]byte(secret))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func newEnv(t *testing.T) *env {
	t.Helper()
	return newEnvWith(t, func(*env, *session.Options) {})
}

// newEnvWith returns an env with other options.
func newEnvWith(t *testing.T, change func(*env, *session.Options)) *env {
	t.Helper()
	e := &env{t: t, clock: testingclock.NewFakePassiveClock(time.Now()), users: map[string]string{"a-token": "ann", "b-token": "bob"}}
	options := session.Options{Key: newKey(t, strings.Repeat("k", 32)), Users: e, Pages: e, Clock: e.clock, Address: func() string { return e.address }}
	change(e, &options)
	e.sessions = session.New(options)
	mux := http.NewServeMux()
	mux.Handle("/sign-in", e.sessions.SignIn())
	mux.Handle("/sign-out", e.sessions.Require(e.sessions.SignOut()))
	mux.Handle("/", e.sessions.Require(http.HandlerFunc(e.page)))
	e.server = httptest.NewServer(session.StripPrefix(func() string { return e.address }, session.Headers(mux)))
	t.Cleanup(e.server.Close)
	return e
}

// page writes who is signed in, and counts writes.
func (e *env) page(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet {
		e.wrote++
	}
	s := session.Of(r.Context())
	fmt.Fprintf(w, "user=%s csrf=%s signOut=%t path=%s", s.Name(), s.CSRF(), s.CanSignOut, html.EscapeString(r.URL.RequestURI()))
}

func (e *env) SignIn(w http.ResponseWriter, _ *http.Request, status int, form session.Form) {
	w.WriteHeader(status)
	fmt.Fprintf(w, "action=%s next=%s problem=%s insecure=%t", form.Action, form.Next, form.Problem, form.Insecure)
}

func (e *env) Problem(w http.ResponseWriter, _ *http.Request, status int, message string) {
	http.Error(w, message, status)
}

type reader struct{ name string }

func (e *env) Reader(_ context.Context, token string) (console.Reader, error) {
	if e.failure != nil {
		return nil, e.failure
	}
	name, ok := e.users[token]
	if !ok {
		return nil, access.ErrUnauthenticated
	}
	return reader{name}, nil
}

func (r reader) Name() string { return r.name }

func (r reader) Key() string { return "key of " + r.name }

func (r reader) Ask(ctx context.Context, right access.Right) error { return r.Check(ctx, right) }

func (r reader) Check(context.Context, access.Right) error { return nil }

func (r reader) Namespace(_ context.Context, name string) (archive.Namespace, error) {
	return archive.Namespace{Name: name}, nil
}

// browser returns a client with cookies that follows no redirection.
func browser(t *testing.T) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// answer is an answer with its body.
type answer struct {
	*http.Response
	body string
}

// send sends a request. A body is a form. Headers are pairs of name and value.
func (e *env) send(client *http.Client, method, path string, form url.Values, headers ...string) answer {
	e.t.Helper()
	var body io.Reader
	if form != nil {
		body = strings.NewReader(form.Encode())
	}
	request, err := http.NewRequestWithContext(e.t.Context(), method, e.server.URL+path, body)
	if err != nil {
		e.t.Fatal(err)
	}
	if form != nil {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			request.Host = headers[i+1]
			continue
		}
		request.Header.Add(headers[i], headers[i+1])
	}
	response, err := client.Do(request)
	if err != nil {
		e.t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		e.t.Fatal(err)
	}
	return answer{response, string(text)}
}

// own is what browsers send with a form of the same origin.
var own = []string{"Sec-Fetch-Site", "same-origin"}

// signIn signs in by the form, and fails the test if that is refused.
func (e *env) signIn(client *http.Client, token string) answer {
	e.t.Helper()
	got := e.send(client, http.MethodPost, "/sign-in", url.Values{"token": {token}}, own...)
	if got.StatusCode != http.StatusSeeOther {
		e.t.Fatalf("sign in: %d %s", got.StatusCode, got.body)
	}
	return got
}

// csrf returns the token of the form of a page.
func (e *env) csrf(client *http.Client, headers ...string) string {
	e.t.Helper()
	_, rest, _ := strings.Cut(e.send(client, http.MethodGet, "/", nil, headers...).body, "csrf=")
	token, _, _ := strings.Cut(rest, " ")
	if token == "" {
		e.t.Fatal("the page has no token for forms")
	}
	return token
}

// jwtOf returns a token that ends at a time, or never.
func jwtOf(t *testing.T, ends time.Time) string {
	t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.HS256, Key: []byte(strings.Repeat("s", 32))}, nil)
	if err != nil {
		t.Fatal(err)
	}
	token, err := jwt.Signed(signer).Claims(jwt.Claims{Subject: "ann", Expiry: jwt.NewNumericDate(ends)}).Serialize()
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func TestSignInShowsThePageThatWasAskedFor(t *testing.T) {
	e := newEnv(t)
	client := browser(t)
	got := e.send(client, http.MethodGet, "/applications?state=Failed", nil)
	if want := "/sign-in?next=%2Fapplications%3Fstate%3DFailed"; got.StatusCode != http.StatusSeeOther || got.Header.Get("Location") != want {
		t.Fatalf("got %d to %q, want the form, %q", got.StatusCode, got.Header.Get("Location"), want)
	}
	if got = e.send(client, http.MethodGet, got.Header.Get("Location"), nil); !strings.Contains(got.body, "next=/applications?state=Failed") {
		t.Fatalf("the form is %q", got.body)
	}
	got = e.send(client, http.MethodPost, "/sign-in", url.Values{"token": {" Bearer a-token\n"}, "next": {"/applications?state=Failed"}}, own...)
	if got.StatusCode != http.StatusSeeOther || got.Header.Get("Location") != "/applications?state=Failed" {
		t.Fatalf("signed in: %d to %q", got.StatusCode, got.Header.Get("Location"))
	}
	if got = e.send(client, http.MethodGet, "/applications?state=Failed", nil); !strings.Contains(got.body, "user=ann") || !strings.Contains(got.body, "signOut=true") {
		t.Errorf("the page is %q", got.body)
	}
}

func TestSessionCannotBeReadOrMade(t *testing.T) {
	e := newEnv(t)
	client := browser(t)
	cookie := e.signIn(client, "a-token").Cookies()[0]
	if strings.Contains(cookie.Value, "a-token") || !cookie.HttpOnly || cookie.SameSite != http.SameSiteLaxMode || cookie.Path != "/" || cookie.Domain != "" {
		t.Errorf("the cookie is %v", cookie)
	}
	other := newEnv(t)
	other.sessions.Key = newKey(t, strings.Repeat("o", 32))
	flipped := []byte(cookie.Value)
	flipped[len(flipped)/2] ^= 1
	for name, c := range map[string]struct {
		*env
		cookie string
	}{
		"another key": {other, cookie.Value}, "a changed cookie": {e, string(flipped)}, "a part": {e, cookie.Value[:20]}, "no base64": {e, "!"},
		"the cookie twice": {e, cookie.Value + "; " + cookie.Name + "=" + cookie.Value},
	} {
		got := c.send(browser(t), http.MethodGet, "/", nil, "Cookie", cookie.Name+"="+c.cookie)
		if got.StatusCode != http.StatusSeeOther || len(got.Cookies()) == 0 || got.Cookies()[0].MaxAge >= 0 {
			t.Errorf("%s: got %d with the cookies %v, want the form, and the cookie removed", name, got.StatusCode, got.Cookies())
		}
	}
}

func TestCookiesOfHTTPSAreOfItAlone(t *testing.T) {
	e := newEnv(t)
	for _, c := range []struct {
		name, address, host, proto, path string
		secure                           bool
	}{
		{name: "firesteel-session", path: "/"},
		{name: "__Host-firesteel-session", proto: "https", path: "/", secure: true},
		{name: "__Host-firesteel-session", address: "https://console.example.com", host: "console.example.com", path: "/", secure: true},
		{name: "__Secure-firesteel-session", address: "https://example.com/spark", host: "example.com", path: "/spark/", secure: true},
	} {
		e.address = c.address
		headers := own
		if c.host != "" {
			headers = append(headers[:len(headers):len(headers)], "Host", c.host)
		}
		if c.proto != "" {
			headers = append(headers[:len(headers):len(headers)], "X-Forwarded-Proto", c.proto)
		}
		got := e.send(browser(t), http.MethodPost, "/sign-in", url.Values{"token": {"a-token"}}, headers...)
		if len(got.Cookies()) != 1 {
			t.Fatalf("%+v: got %d %s", c, got.StatusCode, got.body)
		}
		if cookie := got.Cookies()[0]; cookie.Name != c.name || cookie.Secure != c.secure || cookie.Path != c.path {
			t.Errorf("%+v: got %v", c, cookie)
		}
	}
}

func TestLongTokenHasTwoCookies(t *testing.T) {
	e := newEnv(t)
	long := strings.Repeat("x", session.MaxTokenBytes)
	e.users[long], e.users[long+"x"] = "ann", "ann"
	client := browser(t)
	cookies := e.signIn(client, long).Cookies()
	if len(cookies) != 2 {
		t.Fatalf("got %d cookies", len(cookies))
	}
	for _, cookie := range cookies {
		if size := len(cookie.String()); size > 4096 {
			t.Errorf("the cookie %s has %d bytes", cookie.Name, size)
		}
	}
	if got := e.send(client, http.MethodGet, "/", nil); !strings.Contains(got.body, "user=ann") {
		t.Errorf("got %d %q", got.StatusCode, got.body)
	}
	if got := e.signIn(client, "a-token").Cookies(); len(got) != 2 || got[1].MaxAge >= 0 {
		t.Errorf("a short token after it: the cookies are %v, want the second removed", got)
	}
	if got := e.send(client, http.MethodPost, "/sign-in", url.Values{"token": {long + "x"}}, own...); got.StatusCode != http.StatusBadRequest || !strings.Contains(got.body, "proxy") {
		t.Errorf("a longer token: got %d %q", got.StatusCode, got.body)
	}
}

func TestSessionEnds(t *testing.T) {
	for name, c := range map[string]struct {
		ends time.Duration
		life time.Duration
	}{
		"with its token": {time.Hour, time.Hour}, "after twelve hours": {48 * time.Hour, session.MaxLife},
	} {
		e := newEnv(t)
		token := jwtOf(t, e.clock.Now().Add(c.ends))
		e.users[token] = "ann"
		client := browser(t)
		e.signIn(client, token)
		e.clock.SetTime(e.clock.Now().Add(c.life - 2*time.Second))
		if got := e.send(client, http.MethodGet, "/", nil); got.StatusCode != http.StatusOK {
			t.Errorf("%s: before it: %d", name, got.StatusCode)
		}
		e.clock.SetTime(e.clock.Now().Add(2 * time.Second))
		if got := e.send(client, http.MethodGet, "/", nil); got.StatusCode != http.StatusSeeOther {
			t.Errorf("%s: got %d", name, got.StatusCode)
		}
	}
}

func TestSessionEndsWhenTheAPIServerRefusesTheToken(t *testing.T) {
	e := newEnv(t)
	client := browser(t)
	e.signIn(client, "a-token")
	delete(e.users, "a-token")
	if got := e.send(client, http.MethodGet, "/", nil); got.StatusCode != http.StatusSeeOther {
		t.Errorf("got %d", got.StatusCode)
	}
}

func TestSessionOutlivesTheAPIServer(t *testing.T) {
	e := newEnv(t)
	client := browser(t)
	e.signIn(client, "a-token")
	e.failure = access.ErrUnavailable
	if got := e.send(client, http.MethodGet, "/", nil); got.StatusCode != http.StatusServiceUnavailable || len(got.Cookies()) > 0 {
		t.Errorf("got %d with the cookies %v", got.StatusCode, got.Cookies())
	}
	e.failure = nil
	if got := e.send(client, http.MethodGet, "/", nil); got.StatusCode != http.StatusOK {
		t.Errorf("afterwards: %d", got.StatusCode)
	}
}

func TestStreamEndsWithTheToken(t *testing.T) {
	e := newEnv(t)
	token := jwtOf(t, e.clock.Now().Add(2*time.Second))
	e.users[token] = "ann"
	ended := make(chan error, 1)
	stream := e.sessions.Require(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		<-r.Context().Done()
		ended <- context.Cause(r.Context())
		if err := session.Of(r.Context()).Valid(t.Context()); err != nil {
			t.Errorf("the token is valid by its review, and by the clock of the test: %v", err)
		}
		e.clock.SetTime(e.clock.Now().Add(time.Minute))
		if err := session.Of(r.Context()).Valid(t.Context()); !errors.Is(err, access.ErrUnauthenticated) {
			t.Errorf("after its end: %v", err)
		}
	}))
	request := httptest.NewRequest(http.MethodGet, "/stream", nil)
	request.Header.Set("Authorization", "Bearer "+token)
	stream.ServeHTTP(httptest.NewRecorder(), request)
	if err := <-ended; !errors.Is(err, access.ErrUnauthenticated) {
		t.Errorf("it ended with %v", err)
	}
}

func TestHeaderWithATokenWinsOverTheSession(t *testing.T) {
	e := newEnv(t)
	client := browser(t)
	e.signIn(client, "a-token")
	for name, c := range map[string]struct {
		headers []string
		want    string
	}{
		"a token":                {[]string{"Authorization", "Bearer b-token"}, "user=bob"},
		"another case":           {[]string{"Authorization", "bearer b-token"}, "user=bob"},
		"passed on by a proxy":   {[]string{"X-Firesteel-Authorization", "Bearer b-token"}, "user=bob"},
		"both":                   {[]string{"Authorization", "Bearer unknown", "X-Firesteel-Authorization", "Bearer b-token"}, "user=bob"},
		"a proxy's own":          {[]string{"Authorization", "Bearer b-token", "X-Firesteel-Authorization", "b-token"}, ""},
		"a password":             {[]string{"Authorization", "Basic b-token"}, ""},
		"an unknown token":       {[]string{"Authorization", "Bearer c-token"}, ""},
		"a user that is claimed": {[]string{"X-Remote-User", "bob", "Impersonate-User", "bob"}, "user=ann"},
	} {
		got := e.send(client, http.MethodGet, "/", nil, c.headers...)
		if c.want == "" && got.StatusCode != http.StatusSeeOther || !strings.Contains(got.body, c.want) {
			t.Errorf("%s: got %d %q, want %q", name, got.StatusCode, got.body, c.want)
		}
		if c.want == "user=bob" && !strings.Contains(got.body, "signOut=false") {
			t.Errorf("%s: the console would end a proxy's session: %s", name, got.body)
		}
	}
}

func TestWritesComeFromTheConsolesOwnPages(t *testing.T) {
	e := newEnv(t)
	ann, bob := browser(t), browser(t)
	e.signIn(ann, "a-token")
	e.signIn(bob, "b-token")
	good, others := e.csrf(ann), e.csrf(bob)
	if another := e.csrf(ann); another == good {
		t.Error("two pages have the same token")
	}
	proxied := []string{"Authorization", "Bearer a-token"}
	ofUser := e.csrf(browser(t), proxied...)
	for name, c := range map[string]struct {
		client  *http.Client
		token   string
		headers []string
		want    int
	}{
		"an own form":                       {ann, good, own, 200},
		"an own form of an older browser":   {ann, good, []string{"Origin", e.server.URL}, 200},
		"no token":                          {ann, "", own, 403},
		"the token of another user":         {ann, others, own, 403},
		"the token of the user's other way": {ann, ofUser, own, 403},
		"a changed token":                   {ann, good[:len(good)-2] + "AA", own, 403},
		"another site":                      {ann, good, []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate"}, 403},
		"another port":                      {ann, good, []string{"Sec-Fetch-Site", "same-site", "Origin", e.server.URL}, 403},
		"another origin":                    {ann, good, []string{"Origin", "http://127.0.0.1:1"}, 403},
		"another scheme":                    {ann, good, []string{"Origin", strings.Replace(e.server.URL, "http:", "https:", 1)}, 403},
		"a hidden origin":                   {ann, good, []string{"Origin", "null"}, 403},
		"no origin":                         {ann, good, nil, 403},
		"a proxy's user":                    {browser(t), ofUser, append(proxied[:2:2], own...), 200},
		"a proxy's user without a token":    {browser(t), "", append(proxied[:2:2], own...), 403},
		"nobody":                            {browser(t), good, own, 303},
	} {
		before := e.wrote
		got := e.send(c.client, http.MethodPost, "/actions/stop", url.Values{"csrf": {c.token}}, c.headers...)
		if got.StatusCode != c.want || (e.wrote > before) != (c.want == 200) {
			t.Errorf("%s: got %d %q and %d writes, want %d", name, got.StatusCode, got.body, e.wrote-before, c.want)
		}
	}
	if got := e.send(ann, http.MethodPost, "/", nil, append(own[:2:2], "X-CSRF-Token", e.csrf(ann))...); got.StatusCode != http.StatusOK {
		t.Errorf("the token in a header: %d %q", got.StatusCode, got.body)
	}
	if got := e.send(ann, http.MethodPost, "/", url.Values{"csrf": {good}, "more": {strings.Repeat("x", 1<<20)}}, own...); got.StatusCode != http.StatusForbidden {
		t.Errorf("a form of 1 MiB: %d", got.StatusCode)
	}
}

func TestPagesOfOtherOriginsCannotReadWithTheSession(t *testing.T) {
	e := newEnv(t)
	client := browser(t)
	e.signIn(client, "a-token")
	for name, c := range map[string]struct {
		headers []string
		want    int
	}{
		"a link of another site":    {[]string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}, 200},
		"a script of the same site": {[]string{"Sec-Fetch-Site", "same-site", "Sec-Fetch-Mode", "cors", "Sec-Fetch-Dest", "empty"}, 303},
		"an image of another site":  {[]string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors", "Sec-Fetch-Dest", "image"}, 303},
		"a frame of the same site":  {[]string{"Sec-Fetch-Site", "same-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "iframe"}, 303},
		"an address that is typed":  {[]string{"Sec-Fetch-Site", "none"}, 200},
		// Chromium says of a WebSocket only whose it is.
		"a socket of another page": {[]string{"Origin", "https://evil.example", "Sec-Websocket-Version", "13"}, 303},
		"a socket from nowhere":    {[]string{"Origin", "null", "Sec-Websocket-Version", "13"}, 303},
		"a socket of its own":      {[]string{"Origin", e.server.URL, "Sec-Websocket-Version", "13"}, 200},
	} {
		got := e.send(client, http.MethodGet, "/", nil, c.headers...)
		if got.StatusCode != c.want || len(got.Cookies()) > 0 {
			t.Errorf("%s: got %d with the cookies %v, want %d and the session as it is", name, got.StatusCode, got.Cookies(), c.want)
		}
		if got := e.send(browser(t), http.MethodGet, "/", nil, append(c.headers, "Authorization", "Bearer a-token")...); got.StatusCode != c.want {
			t.Errorf("%s, through a proxy that adds the token: got %d, want %d", name, got.StatusCode, c.want)
		}
	}
}

func TestSignInIsRefused(t *testing.T) {
	e := newEnv(t)
	for name, c := range map[string]struct {
		token   string
		headers []string
		want    int
	}{
		"an unknown token":         {"c-token", own, 401},
		"no token":                 {" ", own, 400},
		"by another site":          {"a-token", []string{"Sec-Fetch-Site", "cross-site"}, 403},
		"by another origin":        {"a-token", []string{"Origin", "https://evil.example"}, 403},
		"without an origin":        {"a-token", nil, 403},
		"without encryption":       {"a-token", []string{"Sec-Fetch-Site", "same-origin", "Host", "console.example.com"}, 403},
		"without the API server":   {"a-token", own, 503},
		"of a long forwarded host": {"a-token", []string{"Sec-Fetch-Site", "same-origin", "Host", "localhost.evil.example"}, 403},
	} {
		e.failure = nil
		if c.want == http.StatusServiceUnavailable {
			e.failure = access.ErrUnavailable
		}
		got := e.send(browser(t), http.MethodPost, "/sign-in", url.Values{"token": {c.token}}, c.headers...)
		if got.StatusCode != c.want || len(got.Cookies()) > 0 || strings.Contains(got.body, "-token") {
			t.Errorf("%s: got %d %q with the cookies %v, want %d", name, got.StatusCode, got.body, got.Cookies(), c.want)
		}
	}
	if got := e.send(browser(t), http.MethodGet, "/sign-in", nil, "Host", "console.example.com"); !strings.Contains(got.body, "insecure=true") {
		t.Errorf("the form without encryption: %q", got.body)
	}
	if got := e.send(browser(t), http.MethodPut, "/sign-in", nil, own...); got.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("PUT: %d", got.StatusCode)
	}
}

func TestTriesAreBounded(t *testing.T) {
	e := newEnv(t)
	statuses := map[int]int{}
	for range 30 {
		statuses[e.send(browser(t), http.MethodPost, "/sign-in", url.Values{"token": {"c-token"}}, own...).StatusCode]++
	}
	if statuses[http.StatusUnauthorized] != 10 || statuses[http.StatusTooManyRequests] != 20 {
		t.Errorf("got the statuses %v", statuses)
	}
	e.clock.SetTime(e.clock.Now().Add(time.Minute))
	e.signIn(browser(t), "a-token")
}

func TestNextIsAPageOfTheConsole(t *testing.T) {
	e := newEnv(t)
	for _, prefix := range []string{"", "/spark"} {
		if e.address = ""; prefix != "" {
			e.address = "https://example.com" + prefix
		}
		for next, want := range map[string]string{
			prefix + "/applications?state=Failed": prefix + "/applications?state=Failed", "": prefix + "/", "//evil.example": prefix + "/", `/\evil.example`: prefix + "/",
			"https://evil.example/": prefix + "/", "/\t/evil.example": prefix + "/", "javascript:alert(1)": prefix + "/", "evil": prefix + "/",
			prefix + "/sign-in?next=/": prefix + "/", "\\\\evil.example": prefix + "/",
		} {
			got := e.send(browser(t), http.MethodPost, "/sign-in", url.Values{"token": {"a-token"}, "next": {next}}, own...)
			if got.StatusCode == http.StatusTooManyRequests {
				e.clock.SetTime(e.clock.Now().Add(time.Minute))
				got = e.send(browser(t), http.MethodPost, "/sign-in", url.Values{"token": {"a-token"}, "next": {next}}, own...)
			}
			if location := got.Header.Get("Location"); location != want {
				t.Errorf("%q leads to %q, want %q", next, location, want)
			}
		}
	}
}

func TestSignOutEndsTheSession(t *testing.T) {
	e := newEnv(t)
	client := browser(t)
	e.signIn(client, "a-token")
	if got := e.send(client, http.MethodGet, "/sign-out", nil); got.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("by a link: %d", got.StatusCode)
	}
	if got := e.send(client, http.MethodPost, "/sign-out", url.Values{"csrf": {e.csrf(client)}}, own...); got.StatusCode != http.StatusSeeOther {
		t.Errorf("got %d", got.StatusCode)
	}
	if got := e.send(client, http.MethodGet, "/", nil); got.StatusCode != http.StatusSeeOther {
		t.Errorf("afterwards: %d", got.StatusCode)
	}
}

func TestPartsOfPagesAndStreamsAreNotSentToTheForm(t *testing.T) {
	e := newEnv(t)
	for _, header := range [][]string{{"HX-Request", "true"}, {"Accept", "text/html, text/event-stream"}, {"Sec-Fetch-Dest", "empty", "Sec-Fetch-Site", "same-origin"}} {
		if got := e.send(browser(t), http.MethodGet, "/", nil, header...); got.StatusCode != http.StatusUnauthorized || got.body != "" {
			t.Errorf("%s: %d %q", header[0], got.StatusCode, got.body)
		}
	}
}

func TestFormSaysThatTheSessionIsOver(t *testing.T) {
	e := newEnv(t)
	client := browser(t)
	e.signIn(client, "a-token")
	delete(e.users, "a-token")
	got := e.send(client, http.MethodGet, "/clusters", nil)
	if want := "/sign-in?next=%2Fclusters&why=over"; got.Header.Get("Location") != want {
		t.Fatalf("it leads to %q, want %q", got.Header.Get("Location"), want)
	}
	if got = e.send(client, http.MethodGet, got.Header.Get("Location"), nil); !strings.Contains(got.body, "problem=Your session is over.") {
		t.Errorf("the form is %q", got.body)
	}
	if got = e.send(client, http.MethodGet, "/sign-in?why=another", nil); !strings.Contains(got.body, "problem= ") {
		t.Errorf("for another reason the form is %q", got.body)
	}
}

func TestActionAfterTheSessionLeadsBackToItsPage(t *testing.T) {
	e := newEnv(t)
	page := "/applications/a/b/c?action=stop"
	for referer, want := range map[string]string{
		e.server.URL + page: page, "": "/", "https://evil.example/steal": "/steal", e.server.URL + "/sign-in?next=/x": "/", "https://evil.example//evil.example": "/", "::": "/",
	} {
		got := e.send(browser(t), http.MethodPost, "/actions/stop", url.Values{"csrf": {"x"}}, append([]string{"Referer", referer}, own...)...)
		if got.StatusCode != http.StatusSeeOther || !strings.Contains(got.Header.Get("Location"), "why=undone") {
			t.Fatalf("it leads to %d %q", got.StatusCode, got.Header.Get("Location"))
		}
		got = e.send(browser(t), http.MethodGet, got.Header.Get("Location"), nil)
		if !strings.Contains(got.body, "next="+want+" problem=Your session is over, and nothing was done.") {
			t.Errorf("from %q the form is %q", referer, got.body)
		}
	}
	if e.wrote > 0 {
		t.Errorf("%d writes were let through", e.wrote)
	}
}

func TestPagesAreBelowThePrefixOfProxies(t *testing.T) {
	e := newEnv(t)
	e.address = "https://example.com/spark"
	bob := []string{"Authorization", "Bearer b-token"}
	for path, want := range map[string]string{
		"/spark/applications": "path=/applications", "/applications": "path=/applications", "/spark/": "path=/", "/sparkling": "path=/sparkling",
		"/spark/a%2Fb": "path=/a%2Fb",
	} {
		if got := e.send(browser(t), http.MethodGet, path, nil, bob...); !strings.HasSuffix(got.body, want) {
			t.Errorf("%s: %d %q, want %q", path, got.StatusCode, got.body, want)
		}
	}
	if got := e.send(browser(t), http.MethodGet, "/spark", nil, bob...); got.Header.Get("Location") != "/spark/" {
		t.Errorf("without a slash: %d to %q", got.StatusCode, got.Header.Get("Location"))
	}
	if got := e.send(browser(t), http.MethodGet, "/spark/clusters", nil); got.Header.Get("Location") != "/spark/sign-in?next=%2Fspark%2Fclusters" {
		t.Errorf("the form: %d to %q", got.StatusCode, got.Header.Get("Location"))
	}
}

func TestHeadersKeepPagesFromBeingFramedRunOrStored(t *testing.T) {
	e := newEnv(t)
	header := e.send(browser(t), http.MethodGet, "/sign-in", nil).Header
	for name, want := range map[string]string{
		"Content-Security-Policy": session.Policy, "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store", "Cross-Origin-Opener-Policy": "same-origin",
		"Cross-Origin-Resource-Policy": "same-origin", "Referrer-Policy": "same-origin", "X-Frame-Options": "DENY",
	} {
		if header.Get(name) != want {
			t.Errorf("%s: %q", name, header.Get(name))
		}
	}
}
