package session_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firesteel-dev/firesteel/pkg/access"
	"github.com/firesteel-dev/firesteel/pkg/console"
	"github.com/firesteel-dev/firesteel/pkg/console/session"
)

const proxySecret = "0123456789abcdef0123456789abcdef"

// proxied is a Users for whom the name of a proxy's user is that of the reader.
type proxied struct {
	*env
	proxy *session.Proxy
}

func (p proxied) Reader(ctx context.Context, token string) (console.Reader, error) {
	claimed, ofProxy, err := p.proxy.Identity(token)
	switch {
	case err != nil:
		return nil, err
	case !ofProxy:
		return p.env.Reader(ctx, token)
	}
	return reader{claimed.User + " of " + strings.Join(claimed.Groups, "+")}, nil
}

// tokens is a Users that notes the last token.
type tokens struct {
	*env
	last *string
}

func (n tokens) Reader(_ context.Context, token string) (console.Reader, error) {
	*n.last = token
	return reader{"ann"}, nil
}

// newProxied returns an env that trusts a proxy for groups.
func newProxied(t *testing.T, secret string, groups *[]string) *env {
	t.Helper()
	return newEnvWith(t, func(e *env, options *session.Options) {
		options.Proxy = session.NewProxy(options.Key, []byte(secret), func() []string { return *groups }, e.clock)
		options.Users = proxied{e, options.Proxy}
	})
}

// asked returns the answer to a request for a page.
func (e *env) asked(headers []string) (status int, text string) {
	e.t.Helper()
	got := e.send(browser(e.t), http.MethodGet, "/page", nil, headers...)
	return got.StatusCode, got.body
}

// header returns headers, which are pairs of name and value.
func header(pairs ...string) []string { return pairs }

const user, groups, secret = session.UserHeader, session.GroupsHeader, session.SecretHeader

func TestProxySignsUsersOfListedGroupsIn(t *testing.T) {
	listed := []string{"data", "ops"}
	e := newProxied(t, proxySecret, &listed)
	for name, h := range map[string][]string{
		"one header":        header(secret, proxySecret, user, "ann@example.com", groups, "others, data,ops,data"),
		"several headers":   header(secret, proxySecret, user, "ann@example.com", groups, "data", groups, "others", groups, "ops"),
		"lower-case header": header("x-firesteel-proxy-secret", proxySecret, "x-firesteel-user", "ann@example.com", "x-firesteel-groups", "data,ops"),
	} {
		if status, text := e.asked(h); status != http.StatusOK || !strings.Contains(text, "user=ann@example.com of data+ops csrf=") || !strings.Contains(text, "signOut=false") {
			t.Errorf("%s: %d %s", name, status, text)
		}
	}
}

func TestHeadersOfAProxyAreRefusedFromAnybodyElse(t *testing.T) {
	listed := []string{"data"}
	whole := func(more ...string) []string {
		return append([]string{secret, proxySecret, user, "ann@example.com", groups, "data"}, more...)
	}
	for name, refused := range map[string]struct {
		header []string
		reason string
	}{
		"without a secret":       {header(user, "ann@example.com", groups, "data"), "does not prove"},
		"with an empty secret":   {header(secret, "", user, "ann@example.com", groups, "data"), "does not prove"},
		"with a part of it":      {header(secret, proxySecret[:31], user, "ann@example.com", groups, "data"), "does not prove"},
		"with it twice":          {whole(secret, proxySecret), "does not prove"},
		"a user alone":           {header(user, "ann@example.com"), "does not prove"},
		"groups alone":           {header(groups, "data"), "does not prove"},
		"a token and a user":     {header(user, "ann@example.com", "Authorization", "Bearer a-token"), "does not prove"},
		"proof, user and token":  {whole("Authorization", "Bearer a-token"), "one of both"},
		"proof and passed token": {whole("X-Firesteel-Authorization", "Bearer a-token"), "one of both"},
		"no user":                {header(secret, proxySecret, groups, "data"), "0 times"},
		"an empty user":          {header(secret, proxySecret, user, "", groups, "data"), "printable"},
		"two users":              {whole(user, "bob@example.com"), "2 times"},
		"a system user":          {header(secret, proxySecret, user, "system:admin", groups, "data"), "Kubernetes' own"},
		"a System user":          {header(secret, proxySecret, user, "System:admin", groups, "data"), "Kubernetes' own"},
		"a system group":         {whole(groups, "system:masters"), "Kubernetes' own"},
		"a long user":            {header(secret, proxySecret, user, strings.Repeat("a", 254), groups, "data"), "printable"},
		"no ASCII":               {header(secret, proxySecret, user, "a\u202eb", groups, "data"), "printable"},
		"bytes":                  {header(secret, proxySecret, user, "a\xffb", groups, "data"), "printable"},
		"another group":          {header(secret, proxySecret, user, "ann@example.com", groups, "others"), "no group"},
		"a group's beginning":    {header(secret, proxySecret, user, "ann@example.com", groups, "dat"), "no group"},
		"no group":               {header(secret, proxySecret, user, "ann@example.com"), "no group"},
		"too many groups":        {header(secret, proxySecret, user, "ann@example.com", groups, "data"+manyGroups()), "more than 256"},
	} {
		e := newProxied(t, proxySecret, &listed)
		if status, text := e.asked(refused.header); status != http.StatusForbidden || !strings.Contains(text, refused.reason) {
			t.Errorf("%s: %d %s", name, status, text)
		}
	}
}

func manyGroups() string {
	var text strings.Builder
	for i := range 300 {
		fmt.Fprintf(&text, ",group-%d", i)
	}
	return text.String()
}

func TestProxyIsTrustedOnlyWithASecretAndGroups(t *testing.T) {
	none, some := []string{}, []string{"data"}
	for name, e := range map[string]*env{"without groups": newProxied(t, proxySecret, &none), "without a secret": newProxied(t, "", &some), "without a proxy": newEnv(t)} {
		for _, given := range []string{proxySecret, ""} {
			h := header(secret, given, user, "ann@example.com", groups, "data")
			if status, text := e.asked(h); status != http.StatusForbidden || !strings.Contains(text, "trusts no proxy") {
				t.Errorf("%s: %d %s", name, status, text)
			}
		}
		if status, text := e.asked(header("Authorization", "Bearer a-token")); status != http.StatusOK || !strings.Contains(text, "user=ann ") {
			t.Errorf("%s, a token: %d %s", name, status, text)
		}
	}
}

func TestCredentialOfAProxysUserEndsAndCannotBeMade(t *testing.T) {
	listed := []string{"data", "ops"}
	var got string
	e := newEnvWith(t, func(e *env, options *session.Options) {
		options.Proxy = session.NewProxy(options.Key, []byte(proxySecret), func() []string { return listed }, e.clock)
		options.Users = tokens{e, &got}
	})
	if status, text := e.asked(header(secret, proxySecret, user, "ann@example.com", groups, "data,ops")); status != http.StatusOK || strings.Contains(text, "firesteel-proxy") {
		t.Fatalf("%d %s", status, text)
	}
	proxy := e.sessions.Proxy
	if claimed, ofProxy, err := proxy.Identity(got); err != nil || !ofProxy || claimed.User != "ann@example.com" || !slices.Equal(claimed.Groups, []string{"data", "ops"}) {
		t.Fatalf("%+v, %t, %v", claimed, ofProxy, err)
	}
	if _, ofProxy, err := proxy.Identity("a-token"); ofProxy || err != nil {
		t.Errorf("a token: %t, %v", ofProxy, err)
	}
	other := session.NewProxy(newKey(t, strings.Repeat("o", 32)), []byte(proxySecret), func() []string { return listed }, e.clock)
	for name, refused := range map[string]struct {
		*session.Proxy
		token string
	}{
		"of another key": {other, got}, "changed": {proxy, got[:len(got)-2] + "AA"}, "empty": {proxy, "firesteel-proxy."}, "made": {proxy, "firesteel-proxy.eyJ1IjoiYW5uIn0"},
		"of no proxy": {nil, got},
	} {
		if _, ofProxy, err := refused.Identity(refused.token); !ofProxy || !errors.Is(err, access.ErrUnauthenticated) {
			t.Errorf("%s: %t, %v", name, ofProxy, err)
		}
	}
	listed = []string{"ops"}
	if claimed, _, err := proxy.Identity(got); err != nil || !slices.Equal(claimed.Groups, []string{"ops"}) {
		t.Errorf("after a group was taken from the list: %+v, %v", claimed, err)
	}
	e.clock.SetTime(e.clock.Now().Add(time.Hour + time.Second))
	if _, _, err := proxy.Identity(got); !errors.Is(err, access.ErrUnauthenticated) {
		t.Errorf("after an hour: %v", err)
	}
}

func TestProxySecretIsLong(t *testing.T) {
	folder := t.TempDir()
	if secret, err := session.LoadProxySecret(folder); err != nil || len(secret) > 0 {
		t.Errorf("without an entry: %q, %v", secret, err)
	}
	if secret, err := session.LoadProxySecret(""); err != nil || len(secret) > 0 {
		t.Errorf("without a folder: %q, %v", secret, err)
	}
	for text, ok := range map[string]bool{proxySecret + "\n": true, proxySecret[:31] + "\n": false, "": false} {
		if err := os.WriteFile(filepath.Join(folder, "secret"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if secret, err := session.LoadProxySecret(folder); (err == nil) != ok || ok && string(secret) != proxySecret {
			t.Errorf("%q: %q, %v", text, secret, err)
		}
	}
}
