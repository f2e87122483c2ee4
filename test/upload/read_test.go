package upload

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/firesteel-dev/firesteel/pkg/archive"
	_ "github.com/firesteel-dev/firesteel/pkg/archive/clouds"
	_ "github.com/firesteel-dev/firesteel/pkg/archive/clouds/large"
	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/pkg/cli/root"
)

// ended runs a command line about an archive, with an API server that has nothing.
func ended(t *testing.T, line string) (code int, out, errOut string) {
	t.Helper()
	nothing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write([]byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404,"message":"it is not there"}`))
	}))
	defer nothing.Close()
	streams, _, printed, errors := genericiooptions.NewTestIOStreams()
	o := cli.NewOptions(cli.Plugin, streams)
	code = o.Run(t.Context(), root.New(o), append(strings.Fields(line), "--server", nothing.URL, "-n", "team-a"))
	return code, printed.String(), errors.String()
}

func TestArchiveIsReadWithTheUsersOwnCredentials(t *testing.T) {
	for name, url := range map[string]string{"S3": s3.URL(bucket, "archive"), "a folder": "file://" + t.TempDir()} {
		t.Run(name, func(t *testing.T) {
			stored, err := archive.Open(t.Context(), url)
			if err != nil {
				t.Fatal(err)
			}
			for i, namespace := range []string{"an-earlier-namespace", "the-last-one"} {
				app := archive.Application{
					Namespace: "team-a", NamespaceUID: "ns-1", Resource: "sparkapplications.spark.apache.org", APIVersion: "spark.apache.org/v1",
					Kind: "SparkApplication", Name: namespace, UID: "uid-1", Created: time.Date(2026, 1, 1+i, 0, 0, 0, 0, time.UTC), State: "Failed", Outcome: "Failed",
				}
				if i > 0 {
					app.NamespaceUID, app.UID = "ns-2", "uid-2"
				}
				attempt := stored.Attempt(app.ID(), 0)
				log := archive.LogID{Pod: "etl-driver", PodUID: "p", Container: "spark-kubernetes-driver"}
				_, written := attempt.WriteManifest(t.Context(), &archive.Manifest{Logs: []archive.Log{{LogID: log, Role: archive.RoleDriver}}})
				for _, failed := range []error{
					written,
					stored.WriteApplication(t.Context(), app),
					attempt.File("logs", log.Pod, string(log.PodUID), log.Container, "0").Append(t.Context(), 0, []byte("2026-01-01T00:00:00Z text\n")),
				} {
					if failed != nil {
						t.Fatal(failed)
					}
				}
			}
			if err := stored.Close(); err != nil {
				t.Fatal(err)
			}
			code, out, errOut := ended(t, "list --ended --archive "+url)
			if code != 0 || !strings.Contains(out, "the-last-one") || strings.Contains(out, "an-earlier") {
				t.Errorf("list: exit code %d: %s%s", code, out, errOut)
			}
			if code, out, errOut := ended(t, "logs the-last-one --archive "+url); code != 0 || out != "text\n" {
				t.Errorf("logs: exit code %d: %s%s", code, out, errOut)
			}
		})
	}
}

func TestArchiveThatCannotBeReadIsNamedInOneLine(t *testing.T) {
	for url, want := range map[string]string{
		"ftp://archive": "s3://, gs://, azblob:// or file:///", s3.URL("no-such-bucket", "archive"): "the archive cannot be read",
	} {
		code, _, errOut := ended(t, "list --ended --archive "+url)
		if code != 1 || strings.Count(errOut, "\n") != 1 || !strings.Contains(errOut, want) || strings.Contains(errOut, secretKey) {
			t.Errorf("%s: exit code %d: %s, want %s", url, code, errOut, want)
		}
	}
}
