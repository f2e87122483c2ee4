package cli_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/firesteel-dev/firesteel/pkg/cli"
)

// list runs a command that lists applications, with flags of the connection, and returns the exit code and what it prints.
func list(ctx context.Context, t *testing.T, flags ...string) (code int, printed string) {
	t.Helper()
	streams, _, _, stderr := genericiooptions.NewTestIOStreams()
	o := cli.NewOptions(cli.Plugin, streams)
	root := &cobra.Command{Use: "kubectl-spark"}
	o.Connection.AddFlags(root.PersistentFlags())
	root.AddCommand(&cobra.Command{Use: "list", RunE: func(command *cobra.Command, _ []string) error {
		client, err := o.Dynamic()
		if err != nil {
			return err
		}
		resource := schema.GroupVersionResource{Group: "spark.apache.org", Version: "v1", Resource: "sparkapplications"}
		_, err = client.Resource(resource).Namespace("team-a").List(command.Context(), metav1.ListOptions{})
		return err
	}})
	code = o.Run(ctx, root, append([]string{"list"}, flags...))
	return code, stderr.String()
}

// kubeconfig writes a kubeconfig with two contexts, of which dev is used, and returns its name.
func kubeconfig(t *testing.T, server string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "config")
	text := `{apiVersion: v1, kind: Config, current-context: dev, clusters: [{name: c, cluster: {server: "` + server + `"}}],
users: [{name: u, user: {token: hunter2222}}], contexts: [{name: dev, context: {cluster: c, user: u}}, {name: prod, context: {cluster: c, user: u}}]}`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestAConnectionThatFailsIsExplained(t *testing.T) {
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	defer secure.Close()
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer silent.Close()
	const unused = "https://127.0.0.1:1"
	const task, choose = "error: read sparkapplications in the namespace team-a: ", "choose another cluster by --context, --kubeconfig or --server\n"
	for name, test := range map[string]struct {
		flags []string
		want  []string
	}{
		"nothing listens": {
			[]string{"--kubeconfig", kubeconfig(t, unused)},
			[]string{task + "the API server " + unused + ` (context "dev") does not answer: nothing listens there (connection refused): start it, or ` + choose},
		},
		"of another context": {[]string{"--kubeconfig", kubeconfig(t, unused), "--context", "prod"}, []string{`(context "prod") does not answer`}},
		"of a flag":          {[]string{"--server", unused}, []string{"the API server " + unused + " does not answer"}},
		"an unknown name": {
			[]string{"--server", "https://nowhere.invalid"},
			[]string{"the API server https://nowhere.invalid cannot be found: its name nowhere.invalid is not known: check the network or the VPN, or " + choose},
		},
		"an unknown authority": {
			[]string{"--kubeconfig", kubeconfig(t, secure.URL)},
			[]string{"has a certificate of an authority that the kubeconfig does not name (x509: ", "name the authority by --certificate-authority FILE"},
		},
		"no TLS": {
			[]string{"--server", strings.Replace(plain.URL, "http:", "https:", 1)},
			[]string{"does not speak TLS: correct its port, or write http:// in place of https://\n"},
		},
		"no answer in time": {
			[]string{"--server", silent.URL, "--request-timeout", "50ms"}, []string{"does not answer in time: check the network or the VPN, raise --request-timeout, or " + choose},
		},
		"an unknown context": {
			[]string{"--kubeconfig", kubeconfig(t, unused), "--context", "test"}, []string{`error: the kubeconfig has no context "test": write --context with one of dev, prod` + "\n"},
		},
		"an absent kubeconfig": {
			[]string{"--kubeconfig", "/none"}, []string{"error: the kubeconfig cannot be used (stat /none: no such file or directory): correct it, or choose another one by --kubeconfig"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("KUBECONFIG", "")
			t.Setenv("HOME", t.TempDir())
			code, printed := list(t.Context(), t, test.flags...)
			for _, want := range test.want {
				if code != 1 || !strings.Contains(printed, want) || strings.Count(printed, "\n") != 1 {
					t.Errorf("it exits with %d and %q, want %q", code, printed, want)
				}
			}
		})
	}
}

func TestAnInterruptIsNoErrorOfTheConnection(t *testing.T) {
	asked := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(asked)
		<-r.Context().Done()
	}))
	defer server.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	go func() {
		<-asked
		cancel()
	}()
	if code, printed := list(ctx, t, "--server", server.URL); code != 130 || printed != "" {
		t.Errorf("it exits with %d and %q", code, printed)
	}
	post := &url.Error{Op: "Post", URL: "https://a/apis/spark.apache.org/v1/namespaces/team-a/sparkapplications", Err: context.Canceled}
	const want = "error: interrupted: it is not known whether the API server did this: create sparkapplications in the namespace team-a: kubectl spark list shows what there is\n"
	if code, _, printed := run(t, cli.Plugin, post, "get", "pi"); code != 130 || printed != want {
		t.Errorf("it exits with %d and %q, want %q", code, printed, want)
	}
}

func TestLibrariesLogNothing(t *testing.T) {
	if code, _, printed := run(t, cli.Plugin, nil, "get", "pi"); code != 0 {
		t.Fatalf("it exits with %d and %q", code, printed)
	}
	file, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	saved := os.Stderr
	os.Stderr = file
	utilruntime.HandleError(errors.New("of a library"))
	os.Stderr = saved
	if text, err := os.ReadFile(file.Name()); err != nil || len(text) > 0 {
		t.Errorf("it prints %q, %v", text, err)
	}
}
