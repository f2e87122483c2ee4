package integration

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firesteel-dev/firesteel/pkg/archive"
	"github.com/firesteel-dev/firesteel/pkg/console/api"
	"github.com/firesteel-dev/firesteel/pkg/console/live"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

// viewer reads the console's API as a service account.
type viewer struct {
	*env
	address *url.URL
	client  *http.Client
}

func (s *env) viewer(address *url.URL, account string) *viewer {
	s.Helper()
	token, err := s.Token(s.Context(), s.ns, account)
	s.must(err)
	return &viewer{s, address, &http.Client{Transport: bearer(token)}}
}

// open begins to read an answer. It is closed when the test ends.
func (v *viewer) open(path string) (status int, body io.Reader) {
	v.Helper()
	request, err := http.NewRequestWithContext(v.Context(), http.MethodGet, v.address.String()+api.Prefix+path, nil)
	v.must(err)
	response, err := v.client.Do(request)
	v.must(err)
	v.Cleanup(func() { response.Body.Close() })
	return response.StatusCode, response.Body
}

// read reads an answer into a value, and returns its status.
func (v *viewer) read(path string, into any) int {
	v.Helper()
	status, body := v.open(path)
	if status == http.StatusOK {
		v.must(json.NewDecoder(body).Decode(into))
	}
	return status
}

// arrived is a transition that the stream had.
type arrived struct {
	live.FeedItem
	after time.Duration
}

// follow returns the transitions that the stream has, as soon as it is ready.
func (v *viewer) follow() <-chan arrived {
	v.Helper()
	_, body := v.open("/live/stream")
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() && lines.Text() != "event: ready" {
	}
	steps := make(chan arrived, 1000)
	go func() {
		defer close(steps)
		for lines.Scan() {
			var changes live.Changes
			data, ok := strings.CutPrefix(lines.Text(), "data: ")
			if !ok || json.Unmarshal([]byte(data), &changes) != nil {
				continue
			}
			for _, change := range changes.Items {
				for _, step := range change.Transitions {
					steps <- arrived{step, time.Since(step.At)}
				}
			}
		}
	}()
	return steps
}

func TestConsoleShowsWhatRunsToThoseWhoMayListIt(t *testing.T) {
	t.Parallel()
	s, other := newEnv(t).sharesController(), newEnv(t)
	for _, e := range []*env{s, other} {
		_, err := e.kubectl(readers, "create", "-f", "-")
		e.must(err)
	}
	stored, _ := s.archiveOf(archive.Namespace{Name: s.ns, UID: "1"})
	address := s.serveConsole(stored)
	mine, theirs, nobody := s.viewer(address, "viewer"), other.viewer(address, "viewer"), s.viewer(address, "nobody")
	steps := mine.follow()
	other.create(App("hidden"))
	other.untilState("hidden", string(lifecycle.DriverRequested))
	s.create(App("etl"))
	s.run("etl", 0)
	var states []string
	var slowest time.Duration
	for step := range steps {
		if step.Namespace != s.ns {
			t.Errorf("the stream has %+v", step)
		}
		states, slowest = append(states, step.State), max(slowest, step.after)
		if step.State == string(lifecycle.RunningHealthy) {
			break
		}
	}
	t.Logf("the stream has %q, each at most %s after its time", states, slowest)
	if !slices.Contains(states, string(lifecycle.RunningHealthy)) {
		t.Errorf("the stream has %q", states)
	}
	var page live.Page
	if code := mine.read("/live?kind=application", &page); code != http.StatusOK || page.Total != 1 || page.Rows[0].Name != "etl" || page.Rows[0].DriverPod == "" {
		t.Errorf("%d: the page is %+v", code, page)
	}
	var hidden live.Page
	if code := theirs.read("/live", &hidden); code != http.StatusOK || hidden.Total != 1 || hidden.Rows[0].Name != "hidden" {
		t.Errorf("%d: the other's page is %+v", code, hidden)
	}
	if code := nobody.read("/live", &page); code != http.StatusOK || page.Total != 0 {
		t.Errorf("%d: who may list nothing sees %+v", code, page)
	}
	path := "/live/namespaces/" + s.ns + "/sparkapplications.spark.apache.org/etl"
	var details live.Details
	if code := mine.read(path, &details); code != http.StatusOK || len(details.Attempts) != 1 || len(details.Attempts[0].Transitions) < len(states) || !details.PodsHidden {
		t.Errorf("%d: the details are %+v", code, details)
	}
	if code := theirs.read(path, &details); code != http.StatusNotFound {
		t.Errorf("the details of another's application: %d", code)
	}
	var overview live.Overview
	if code := mine.read("/live/overview", &overview); code != http.StatusOK || overview.Total.Running != 1 || len(overview.Namespaces) != 1 {
		t.Errorf("%d: the overview is %+v", code, overview)
	}
}
