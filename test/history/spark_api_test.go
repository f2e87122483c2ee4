package history

import (
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// api reads Spark's REST API of the console.
func (b *browser) api(path string, into any) {
	b.Helper()
	answer := b.get(b.console.URL + "/api/v1/" + path)
	if err := json.Unmarshal([]byte(answer.text), into); err != nil || answer.StatusCode != http.StatusOK || answer.Header.Get("Content-Type") != "application/json" {
		b.Errorf("%s: %d %s %.300s: %v", path, answer.StatusCode, answer.Header.Get("Content-Type"), answer.text, err)
	}
}

// ids returns the IDs that the API lists, by the names of applications.
func (u *uis) ids() map[string]string {
	u.Helper()
	var listed []application
	u.browser(reader).api("applications", &listed)
	ids := map[string]string{}
	for _, app := range listed {
		if ids[app.Name] != "" {
			u.Errorf("%s is listed twice", app.Name)
		}
		ids[app.Name] = app.ID
	}
	return ids
}

// expectListed checks that the API lists applications that run and those that have ended, each with an ID of its own.
func (u *uis) expectListed(apps []*app) {
	u.Helper()
	ids, names := u.ids(), map[string]string{}
	for _, a := range apps {
		id := ids[a.ref.Name]
		if id == "" || names[id] != "" {
			u.Errorf("%s has the ID %q, and so has %q", a.ref.Name, id, names[id])
		}
		names[id] = a.ref.Name
		var shown application
		u.browser(reader).api("applications/"+id, &shown)
		if shown.ID != id || len(shown.Attempts) != 1 || shown.Attempts[0].Completed == a.Runs {
			u.Errorf("%s is shown as %+v", a.ref.Name, shown)
		}
	}
	for status, want := range map[string]int{"running": 1, "completed": len(apps) - 1} {
		var listed []application
		u.browser(reader).api("applications?limit=20&status="+status, &listed)
		if len(listed) != want {
			u.Errorf("%d applications are %s, want %d: %+v", len(listed), status, want, listed)
		}
	}
}

// expectAPI sends the requests that spark-history-cli sends for each of its commands, and returns the ID of the application.
func (u *uis) expectAPI(a *app) (id string) {
	u.Helper()
	id = u.ids()[a.ref.Name]
	b, of := u.browser(reader), "applications/"+id
	var version struct{ Spark string }
	b.api("version", &version)
	var environment struct{ SparkProperties [][]string }
	b.api(of+"/environment", &environment)
	if len(environment.SparkProperties) == 0 {
		u.Errorf("%s has no properties", id)
	}
	lastOf := func(path string) json.Number {
		u.Helper()
		var ids []struct{ ID, JobID, StageID json.Number }
		b.api(of+path, &ids)
		if len(ids) == 0 {
			u.Errorf("%s%s is empty", of, path)
			return "0"
		}
		last := ids[len(ids)-1]
		return cmp.Or(last.JobID, last.StageID, last.ID)
	}
	job, stage, query := lastOf("/jobs"), lastOf("/stages"), lastOf("/sql?details=false&planDescription=false&offset=0&length=20")
	lastOf("/jobs?status=succeeded")
	lastOf("/stages?status=complete")
	lastOf("/stages/" + stage.String())
	var part json.RawMessage
	for _, path := range []string{
		"/jobs/" + job.String(), "/sql/" + query.String() + "?details=true&planDescription=true", "/stages/" + stage.String() + "/0?details=true",
		"/stages/" + stage.String() + "/0/taskSummary?quantiles=0.05,0.25,0.5,0.75,0.95", "/stages/" + stage.String() + "/0/taskList?offset=0&length=20&sortBy=ID",
		"/allexecutors", "/executors", "/storage/rdd", "/allmiscellaneousprocess",
	} {
		b.api(of+path, &part)
	}
	return id
}

// expectLog downloads the event log of an application that has ended.
func (u *uis) expectLog(id string) {
	u.Helper()
	got := u.browser(reader).get(u.console.URL + "/api/v1/applications/" + id + "/logs")
	archived, err := zip.NewReader(bytes.NewReader([]byte(got.text)), int64(len(got.text)))
	if err != nil || len(archived.File) != 1 || !strings.HasPrefix(got.Header.Get("Content-Disposition"), "attachment") {
		u.Errorf("the event log of %s: %d %v, %v", id, got.StatusCode, got.Header, err)
	}
}

// expectFailedJob waits for a job that failed.
func (u *uis) expectFailedJob(a *app) {
	u.Helper()
	of := "applications/" + u.ids()[a.ref.Name]
	err := wait.PollUntilContextTimeout(u.Context(), 200*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		var jobs []struct{ Status string }
		u.browser(reader).api(of+"/jobs?status=failed", &jobs)
		return len(jobs) > 0, nil
	})
	if err != nil {
		u.Error(fmt.Errorf("the endless job of Spark %s did not end: %w", a.version, err))
	}
}
