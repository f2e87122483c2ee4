package act

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/firesteel-dev/firesteel/pkg/cli/connection"
	"github.com/firesteel-dev/firesteel/pkg/redact"
	"github.com/firesteel-dev/firesteel/test/harness/console"
)

func TestRerunFromTheArchiveNeedsTheSecretsAgain(t *testing.T) {
	served := console.New(t)
	t.Setenv("FIRESTEEL_CONSOLE", served.URL)
	served.Store(t, console.Ended{
		Object: &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "spark.apache.org/v1", "kind": "SparkApplication",
			"metadata": map[string]any{"namespace": "team-a", "name": "gone", "uid": "u-gone", "creationTimestamp": "2026-03-26T11:00:00Z"},
			"spec": map[string]any{
				"mainClass": "Main", "runtimeVersions": map[string]any{"sparkVersion": "4.0.1"},
				"sparkConf":  map[string]any{"spark.my.password": redact.Mark, "spark.app.name": "report"},
				"driverArgs": []any{"--token=" + redact.Mark},
			},
		}},
		Resource: "sparkapplications", At: now, State: "Failed",
	})
	client := server(t)
	in := func(line string) (int, string, string) {
		return runIn(t, &cluster{&connection.Cluster{Dynamic: client, Namespace: "team-a", REST: served.Cluster()}}, line)
	}
	code, _, errOut := in("rerun gone")
	if want := "2 fields of the spec had some: write --set FIELD=VALUE for each of driverArgs, sparkConf.spark.my.password"; code != 2 || !strings.Contains(errOut, want) {
		t.Errorf("exit code %d: %s, want %s", code, errOut, want)
	}
	if got := writes(client); got != "" {
		t.Errorf("without the secrets it wrote %s", got)
	}
	code, out, errOut := in(`rerun gone --name again --set driverArgs=["--token=t"] --set sparkConf.spark.my.password=secret`)
	if code != 0 || out != "sparkapplications.spark.apache.org/again created\n" {
		t.Errorf("exit code %d: %s%s", code, out, errOut)
	}
	if got := writes(client); !strings.Contains(got, "create sparkapplications/again") {
		t.Errorf("it wrote %q", got)
	}
}
