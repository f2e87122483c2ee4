package archived

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"

	"github.com/firesteel-dev/firesteel/pkg/console/api"
)

func TestConsoleIsFound(t *testing.T) {
	const server = "https://api-server.invalid"
	for name, c := range map[string]struct {
		flags    Flags
		variable string
		data     map[string]string
		want     string
		failure  string
	}{
		"nowhere":                  {failure: ErrNone.Error()},
		"by the flag":              {flags: Flags{console: "https://a.invalid"}, variable: "https://b.invalid", want: "https://a.invalid"},
		"by the variable":          {variable: "https://b.invalid/console", want: "https://b.invalid/console"},
		"on this machine":          {variable: "http://localhost:8080", want: "http://localhost:8080"},
		"by the cluster":           {data: map[string]string{"url": "https://c.invalid\n"}, want: "https://c.invalid"},
		"by the API server":        {data: map[string]string{"_example": "url: x"}, want: server + "/api/v1/namespaces/firesteel-system/services/console:http/proxy"},
		"without TLS":              {variable: "http://b.invalid", failure: "write https://"},
		"without TLS, the cluster": {data: map[string]string{"url": "http://c.invalid"}, failure: "the key url of the ConfigMap firesteel-system/config-console"},
		"with a password":          {variable: "https://user:secret@b.invalid", failure: "write an address such as"},
		"twice":                    {flags: Flags{console: "https://a.invalid", archive: "s3://bucket"}, failure: "leave one of them out"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(variable, c.variable)
			client := fake.NewClientset()
			if c.data != nil {
				client = fake.NewClientset(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "firesteel-system", Name: configMap}, Data: c.data})
			}
			c.flags.namespace = "firesteel-system"
			found, err := c.flags.Open(t.Context(), &rest.Config{Host: server}, client)
			if c.failure != "" {
				if err == nil || !strings.Contains(err.Error(), c.failure) {
					t.Errorf("got %v, want %s", err, c.failure)
				}
				return
			}
			if err != nil || found.Base.String() != c.want {
				t.Errorf("got %v, %v, want %s", found, err, c.want)
			}
		})
	}
}

func TestTokenGoesToTheConsoleAlone(t *testing.T) {
	var got http.Header
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		got = request.Header
		http.Redirect(w, request, "http://127.0.0.1:1/elsewhere", http.StatusFound)
	}))
	t.Cleanup(server.Close)
	client, err := byProxy(&rest.Config{Host: server.URL, BearerToken: "secret"}, "firesteel-system")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Namespaces(t.Context()); err == nil || !strings.Contains(err.Error(), "302 Found") {
		t.Errorf("a redirection is followed: %v", err)
	}
	if got.Get("Authorization") != "Bearer secret" || got.Get("X-Firesteel-Authorization") != "Bearer secret" {
		t.Errorf("by the API server's proxy: %v", got)
	}
	client, err = byProxy(&rest.Config{Host: server.URL}, "firesteel-system")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Namespaces(t.Context()); !errors.Is(err, api.ErrNoToken) {
		t.Errorf("without a token: %v", err)
	}
}
