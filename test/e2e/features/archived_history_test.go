package features

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"testing"

	"github.com/firesteel-dev/firesteel/pkg/archive"
	"github.com/firesteel-dev/firesteel/pkg/history"
	"github.com/firesteel-dev/firesteel/test/e2e/cluster"
)

// historyManifests are those of Spark's History Server and the archive's container beside it. What may connect to it is tested in test/policies: the
// network of the local cluster enforces no policies.
const historyManifests = "config/history/200-serviceaccount.yaml config/history/500-history.yaml config/history/500-network-policies.yaml"

// deployHistory deploys Spark's History Server until the test ends, and has the console lead to it. It does not wait until that runs.
func deployHistory(t *testing.T, c *cluster.Cluster) {
	t.Helper()
	deploy(t, c, historyManifests)
	finally(t, "-n", system, "patch", "configmap/config-console", "--type=merge", "-p", `{"data":{"history-server":null}}`)
	c.Run(t, "", "kubectl", "-n", system, "patch", "configmap/config-console", "--type=merge", "-p", `{"data":{"history-server":"http://history"}}`)
}

// sparkAPI is a server of Spark's REST API.
type sparkAPI struct{ address, token string }

// sparkApplication is an application as Spark's REST API has it.
type sparkApplication struct {
	ID       string
	Attempts []struct{ Completed bool }
}

func (s sparkAPI) get(ctx context.Context, path string, into any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.address+"/api/v1/applications"+path, http.NoBody)
	if err != nil {
		return err
	}
	if s.token != "" {
		request.Header.Set("Authorization", "Bearer "+s.token)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", path, answer.Status)
	}
	return json.NewDecoder(answer.Body).Decode(into)
}

// list returns by their IDs whether applications are complete.
func (s sparkAPI) list(ctx context.Context) (map[string]bool, error) {
	var apps []sparkApplication
	err := s.get(ctx, "", &apps)
	listed := map[string]bool{}
	for _, app := range apps {
		if len(app.Attempts) != 1 {
			return nil, fmt.Errorf("%s has %d attempts", app.ID, len(app.Attempts))
		}
		listed[app.ID] = app.Attempts[0].Completed
	}
	return listed, err
}

// expectHistory checks that the History Server shows applications that are deleted, with their jobs, and that the console lists them for those who may read
// their logs. Of the killed ones, the last job has not ended.
func expectHistory(t *testing.T, c *cluster.Cluster, console sparkAPI, stranger string, apps []storedApplication, killed ...string) {
	t.Helper()
	c.Run(t, "", "kubectl", "-n", system, "rollout", "status", "deployment/history", "--timeout=3m")
	address, stop, err := forward(t.Context(), &cluster.Cluster{Kube: c.Kube, Spark: c.Spark, Namespace: system}, "deployment/history", "18080")
	cluster.Must(t, err)
	defer stop()
	names := map[string]string{}
	for _, app := range apps {
		names[history.SentID(archive.EventLog{ID: app.ID(), Attempt: app.Attempt})] = app.Name
	}
	ids := slices.Sorted(maps.Keys(names))
	server, listed := sparkAPI{address: address}, map[string]bool{}
	for who, api := range map[string]sparkAPI{"the History Server": server, "the console": console} {
		eventually(t, who+" lists the applications", func(ctx context.Context) error {
			if listed, err = api.list(ctx); err != nil {
				return err
			}
			return unless(slices.Equal(slices.Sorted(maps.Keys(listed)), ids), "it lists %v, and the archive has %v", listed, names)
		})
	}
	hidden, err := sparkAPI{console.address, stranger}.list(t.Context())
	if err != nil || len(hidden) > 0 {
		t.Errorf("a stranger sees %v: %v", hidden, err)
	}
	for id, name := range names {
		isKilled := slices.Contains(killed, name)
		if listed[id] == isKilled {
			t.Errorf("%s is complete: %t", name, listed[id])
		}
		var jobs []struct{ Status string }
		if err := server.get(t.Context(), "/"+id+"/jobs", &jobs); err != nil || len(jobs) == 0 || jobs[0].Status != "SUCCEEDED" && !isKilled {
			t.Errorf("%s has the jobs %v: %v", name, jobs, err)
		}
	}
}
