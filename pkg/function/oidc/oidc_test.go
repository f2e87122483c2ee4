package oidc

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"k8s.io/client-go/rest"

	"github.com/firesteel-dev/firesteel/pkg/function"
)

const (
	issuer   = "https://kubernetes.default.svc.cluster.local"
	audience = "handler-restart"
)

// apiServer publishes the keys of its tokens like a real one.
type apiServer struct {
	*httptest.Server
	t *testing.T

	mutex sync.Mutex
	keys  []jose.JSONWebKey
	asked int
	down  bool
}

func newAPIServer(t *testing.T) *apiServer {
	s := &apiServer{t: t}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	return s
}

func (s *apiServer) serve(w http.ResponseWriter, r *http.Request) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.asked++
	if s.down {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	var answer any
	switch r.URL.Path {
	case discoveryPath:
		// The verifier ignores jwks_uri, and reads the keys from the API server.
		answer = map[string]any{"issuer": issuer, "jwks_uri": "https://elsewhere.example/keys", "id_token_signing_alg_values_supported": []string{"ES256"}}
	case keysPath:
		var set jose.JSONWebKeySet
		for _, key := range s.keys {
			set.Keys = append(set.Keys, key.Public())
		}
		answer = set
	}
	if err := json.NewEncoder(w).Encode(answer); err != nil {
		s.t.Error(err)
	}
}

func (s *apiServer) set(down bool, keys ...jose.JSONWebKey) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.down, s.keys, s.asked = down, keys, 0
}

func (s *apiServer) requests() int {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.asked
}

func newKey(t *testing.T, id string) jose.JSONWebKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	return jose.JSONWebKey{Key: key, KeyID: id, Algorithm: "ES256", Use: "sig"}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// token returns a valid token with a change.
func token(t *testing.T, key jose.JSONWebKey, change func(*jwt.Claims)) string {
	t.Helper()
	claims := jwt.Claims{
		Issuer: issuer, Subject: "system:serviceaccount:firesteel-system:broker", Audience: jwt.Audience{audience},
		IssuedAt: jwt.NewNumericDate(time.Now()), Expiry: jwt.NewNumericDate(time.Now().Add(time.Hour)),
	}
	if change != nil {
		change(&claims)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: key}, nil)
	must(t, err)
	text, err := jwt.Signed(signer).Claims(claims).Serialize()
	must(t, err)
	return text
}

func newVerifier(t *testing.T, s *apiServer) *Verifier {
	t.Helper()
	v, err := NewVerifier(&rest.Config{Host: s.URL}, audience)
	must(t, err)
	return v
}

func (v *Verifier) check(t *testing.T, authorization string) error {
	t.Helper()
	request := httptest.NewRequest(http.MethodPost, "/", nil)
	if authorization != "" {
		request.Header.Set("Authorization", authorization)
	}
	return v.Authenticate(request)
}

func TestVerifierChecksTokens(t *testing.T) {
	s, key, stranger := newAPIServer(t), newKey(t, "a"), newKey(t, "a")
	s.set(false, newKey(t, "another"), key)
	v := newVerifier(t, s)
	right := token(t, key, nil)
	unsigned := strings.Join([]string{"eyJhbGciOiJub25lIn0", strings.Split(right, ".")[1], ""}, ".")
	for name, test := range map[string]struct {
		authorization string
		accepted      bool
	}{
		"a valid token":                 {"Bearer " + right, true},
		"a token for several audiences": {"Bearer " + token(t, key, func(c *jwt.Claims) { c.Audience = jwt.Audience{"other", audience} }), true},
		"no token":                      {"", false},
		"an empty token":                {"Bearer ", false},
		"a password":                    {"Basic " + right, false},
		"for another audience":          {"Bearer " + token(t, key, func(c *jwt.Claims) { c.Audience = jwt.Audience{"handler-ttl"} }), false},
		"for no audience":               {"Bearer " + token(t, key, func(c *jwt.Claims) { c.Audience = nil }), false},
		"an expired token":              {"Bearer " + token(t, key, func(c *jwt.Claims) { c.Expiry = jwt.NewNumericDate(time.Now().Add(-time.Minute)) }), false},
		"a token that is not valid yet": {"Bearer " + token(t, key, func(c *jwt.Claims) {
			c.NotBefore = jwt.NewNumericDate(time.Now().Add(time.Hour))
		}), false},
		"another issuer's":           {"Bearer " + token(t, key, func(c *jwt.Claims) { c.Issuer = "https://elsewhere.example" }), false},
		"another's key":              {"Bearer " + token(t, stranger, nil), false},
		"without signature":          {"Bearer " + unsigned, false},
		"a text that is not a token": {"Bearer " + strings.Repeat("x", 100_000), false},
	} {
		t.Run(name, func(t *testing.T) {
			err := v.check(t, test.authorization)
			if test.accepted != (err == nil) || err != nil && !errors.Is(err, function.ErrUnauthenticated) {
				t.Errorf("accepted is %t: %v", err == nil, err)
			}
			if err != nil && strings.Contains(err.Error(), right) {
				t.Errorf("the error shows the token: %v", err)
			}
		})
	}
	if got := s.requests(); got != 2 {
		t.Errorf("%d requests to the API server, want 2", got)
	}
}

func TestVerifierReadsNewKeys(t *testing.T) {
	s, before, after := newAPIServer(t), newKey(t, "a"), newKey(t, "b")
	s.set(false, before)
	v := newVerifier(t, s)
	must(t, v.check(t, "Bearer "+token(t, before, nil)))
	s.set(false, before, after)
	v.keys.readAt = v.keys.readAt.Add(-refreshAfter)
	must(t, v.check(t, "Bearer "+token(t, after, nil)))
	s.set(true)
	v.keys.readAt = v.keys.readAt.Add(-refreshAfter)
	must(t, v.check(t, "Bearer "+token(t, after, nil)))
	if err := v.check(t, "Bearer "+token(t, newKey(t, "c"), nil)); !errors.Is(err, function.ErrUnauthenticated) {
		t.Errorf("a token of an unknown key is not refused while the API server is unreachable: %v", err)
	}
}

func TestVerifierReportsAnUnreachableAPIServer(t *testing.T) {
	s, key := newAPIServer(t), newKey(t, "a")
	s.set(true)
	v := newVerifier(t, s)
	for range 10 {
		err := v.check(t, "Bearer "+token(t, key, nil))
		if err == nil || errors.Is(err, function.ErrUnauthenticated) || !strings.Contains(err.Error(), "system:service-account-issuer-discovery") {
			t.Errorf("the error is %v, want one about the API server", err)
		}
	}
	s.set(false, key)
	v.keys.readAt = v.keys.readAt.Add(-retryAfter)
	must(t, v.check(t, "Bearer "+token(t, key, nil)))

	request := httptest.NewRequest(http.MethodPost, "/", nil).WithContext(ended(t))
	request.Header.Set("Authorization", "Bearer "+token(t, key, nil))
	if err := newVerifier(t, s).Authenticate(request); !errors.Is(err, context.Canceled) {
		t.Errorf("the error of a request that has ended is %v", err)
	}
}

func ended(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

func TestVerifierNeedsAnAudience(t *testing.T) {
	if _, err := NewVerifier(&rest.Config{}, ""); err == nil {
		t.Error("NewVerifier accepted an empty audience")
	}
}
