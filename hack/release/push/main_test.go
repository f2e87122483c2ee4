package main

import (
	"bytes"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"

	"github.com/firesteel-dev/firesteel/hack/release/releasetest"
)

// newPrivateRegistry returns the address of a registry with one user.
func newPrivateRegistry(t *testing.T, user, password string) string {
	t.Helper()
	content := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if u, p, _ := r.BasicAuth(); u != user || p != password {
			w.Header().Set("WWW-Authenticate", `Basic realm="registry"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		content.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

func TestPushLogsIn(t *testing.T) {
	t.Setenv("DOCKER_CONFIG", t.TempDir()) // no logins of this machine's user
	t.Setenv("REGISTRY_AUTH_FILE", "")
	dir, host := string(releasetest.New(t, "v1.2.3", "").Folder), newPrivateRegistry(t, "robot", "secret")
	var printed bytes.Buffer
	push := func(password string, arguments ...string) error {
		return run(t.Context(), append([]string{"-folder", dir}, arguments...), strings.NewReader(password), &printed)
	}
	if err := push("", host); err == nil || !strings.Contains(err.Error(), "401") {
		t.Errorf("without a login, the answer is %v", err)
	}
	if err := push("wrong", "-username", "robot", "-password-stdin", host); err == nil || strings.Contains(err.Error(), "wrong") {
		t.Errorf("with a wrong password, the answer is %v", err)
	}
	if err := push("secret\n", "-username", "robot", "-password-stdin", host); err != nil {
		t.Errorf("with the password, the answer is %v", err)
	}
	if !strings.Contains(printed.String(), host+"/controller:v1.2.3 sha256:") {
		t.Errorf("push prints %s", &printed)
	}
}

func TestPushRefusesIncompleteArguments(t *testing.T) {
	for want, arguments := range map[string][]string{
		"it takes one registry, not 0":    nil,
		"it takes one registry, not 2":    {"a.example.com", "b.example.com"},
		"give the password by -password-": {"-username", "robot", "a.example.com"},
	} {
		if err := run(t.Context(), arguments, nil, io.Discard); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("push %v is answered with %v, want %s", arguments, err, want)
		}
	}
}
