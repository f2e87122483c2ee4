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

	"github.com/google/go-containerregistry/pkg/authn"
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

// loginVariables name files of podman and helm, or their folders.
var loginVariables = []string{"REGISTRY_AUTH_FILE", "XDG_RUNTIME_DIR", "HELM_REGISTRY_CONFIG", "HELM_CONFIG_HOME", "XDG_CONFIG_HOME"}

// onlyLogins returns a folder for logins. Until then there are those of docker alone, which are for another registry.
func onlyLogins(t *testing.T) string {
	t.Helper()
	for _, variable := range loginVariables {
		t.Setenv(variable, "")
	}
	home := t.TempDir()
	write(t, filepath.Join(home, "docker/config.json"), `{"auths": {"another.example.com": {"auth": "YTpi"}}}`)
	t.Setenv("DOCKER_CONFIG", filepath.Join(home, "docker"))
	t.Setenv("HOME", home)
	return home
}

// Each of these programs writes its logins into a file of its own.
func TestPushUsesTheLoginsOfPodmanAndHelm(t *testing.T) {
	host, err := name.NewRegistry("registry.example.com")
	if err != nil {
		t.Fatal(err)
	}
	for _, variable := range loginVariables {
		t.Run(variable, func(t *testing.T) {
			home := onlyLogins(t)
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

// The logins for Docker Hub have other names than its registry.
func TestPushUsesTheLoginsOfPodmanAndHelmForDockerHub(t *testing.T) {
	hub, err := name.NewRepository("docker.io/org/controller")
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"https://index.docker.io/v1/", "index.docker.io", "docker.io"} {
		folder := onlyLogins(t)
		login := base64.StdEncoding.EncodeToString([]byte("robot:secret"))
		write(t, filepath.Join(folder, "containers/auth.json"), `{"auths": {"`+key+`": {"auth": "`+login+`"}}}`)
		t.Setenv("XDG_RUNTIME_DIR", folder)
		found, err := keychain().Resolve(hub)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := found.Authorization(); err != nil || got.Username != "robot" || got.Password != "secret" {
			t.Errorf("with a login for %s, the login is %+v: %v", key, got, err)
		}
	}
}

func TestPushReadsNoLoginsOfTheFolderInWhichItRuns(t *testing.T) {
	folder := onlyLogins(t)
	write(t, filepath.Join(folder, "containers/auth.json"), `{"auths": {"registry.example.com": {"auth": "`+base64.StdEncoding.EncodeToString([]byte("a:b"))+`"}}}`)
	t.Chdir(folder)
	host, err := name.NewRegistry("registry.example.com")
	if err != nil {
		t.Fatal(err)
	}
	if found, err := keychain().Resolve(host); err != nil || found != authn.Anonymous {
		t.Errorf("the login is %v: %v", found, err)
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
