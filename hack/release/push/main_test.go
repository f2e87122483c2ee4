package main

import (
	"bytes"
	"encoding/base64"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
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
	for _, variable := range []string{"REGISTRY_AUTH_FILE", "XDG_RUNTIME_DIR", "HELM_REGISTRY_CONFIG"} {
		t.Setenv(variable, "")
	}
	t.Setenv("HELM_CONFIG_HOME", t.TempDir())
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

// Each of these programs writes its logins into a file of its own.
func TestPushUsesTheLoginsOfPodmanAndHelm(t *testing.T) {
	host, err := name.NewRegistry("registry.example.com")
	if err != nil {
		t.Fatal(err)
	}
	for _, variable := range []string{"REGISTRY_AUTH_FILE", "XDG_RUNTIME_DIR", "HELM_REGISTRY_CONFIG", "HELM_CONFIG_HOME", "XDG_CONFIG_HOME"} {
		t.Run(variable, func(t *testing.T) {
			for _, other := range []string{"REGISTRY_AUTH_FILE", "XDG_RUNTIME_DIR", "HELM_REGISTRY_CONFIG", "HELM_CONFIG_HOME", "XDG_CONFIG_HOME"} {
				t.Setenv(other, "")
			}
			home := t.TempDir()
			// Docker has a file, too, with logins for others.
			write(t, filepath.Join(home, "docker/config.json"), `{"auths": {"another.example.com": {"auth": "YTpi"}}}`)
			t.Setenv("DOCKER_CONFIG", filepath.Join(home, "docker"))
			file := filepath.Join(home, map[string]string{
				"XDG_RUNTIME_DIR": "containers/auth.json", "HELM_CONFIG_HOME": "registry/config.json", "XDG_CONFIG_HOME": "helm/registry/config.json",
			}[variable])
			value := home
			if file == home {
				file = filepath.Join(home, "logins.json")
				value = file
			}
			login := base64.StdEncoding.EncodeToString([]byte("robot:secret"))
			write(t, file, `{"auths": {"registry.example.com": {"auth": "`+login+`"}}}`)
			t.Setenv(variable, value)
			found, err := keychain().Resolve(host)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := found.Authorization(); err != nil || got.Username != "robot" || got.Password != "secret" {
				t.Errorf("the login is %+v: %v", got, err)
			}
		})
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
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
