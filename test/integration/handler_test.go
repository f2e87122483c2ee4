package integration

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/wait"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/test/harness/eventlog"
	"github.com/firesteel-dev/firesteel/test/harness/firesteel"
	"github.com/firesteel-dev/firesteel/test/harness/process"
	"github.com/firesteel-dev/firesteel/test/harness/sink"
)

// The handlers run as processes of their own behind a broker. One dies, and moves back into the controller.
func TestHandlersRunWhereTheSettingsSay(t *testing.T) {
	alone(t)
	s := newEnv(t)
	s.configured("config-handlers", "restart", "external")
	s.configured("config-handlers", "ttl", "external")
	s.ownController(controller{sink: s.sink.URL()})
	app := s.create(App("pi").Restart(sparkv1.RestartOnFailure, 3, 0).TTL(0))

	s.run("pi", 0).exit(1)
	s.untilDelivered("the question to be asked again", func(heard []eventlog.Entry) bool { return requestsOf(heard, 0) >= 3 })
	if state := stateOf(s.get("pi")); state != "Failed" {
		t.Errorf("without a verdict it is %s, want Failed", state)
	}
	restart := s.handler("restart")
	s.sink.SetAnswer(s.ns, restart.trigger("sparkrestartallowed", "true"))
	s.run("pi", 1)

	restart.Kill()
	s.sink.SetAnswer(s.ns, sink.Accept)
	s.driver("pi", 1).exit(1)
	s.untilDelivered("the dead handler to be asked", func(heard []eventlog.Entry) bool { return requestsOf(heard, 1) >= 1 })
	s.configured("config-handlers", "restart", "in-process")
	s.run("pi", 2).succeed()
	s.untilState("pi", "ResourceReleased")

	s.sink.SetAnswer(s.ns, s.handler("ttl").trigger("type", "dev.firesteel.application.expired.v1"))
	untilGone(s, s.apps(), "pi")
	s.untilPublished(app, words(`Submitted DriverRequested DriverStarted DriverReady RunningHealthy Failed
		ScheduledToRestart DriverRequested DriverStarted DriverReady RunningHealthy Failed
		ScheduledToRestart DriverRequested DriverStarted DriverReady RunningHealthy Succeeded ResourceReleased`)...)
}

// requestsOf counts the deliveries of the end of an attempt.
func requestsOf(heard []eventlog.Entry, attempt int) int {
	count := 0
	for _, d := range heard {
		if d.State() == "Failed" && d.Attributes["sparkattempt"] == fmt.Sprint(attempt) {
			count++
		}
	}
	return count
}

func TestHandlersIgnoreForgedEvents(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	restart, ttl := s.handler("restart"), s.handler("ttl")
	app := s.create(App("pi").Restart(sparkv1.RestartOnFailure, 1, 0).TTL(0))
	s.run("pi", 0).exit(1)
	s.run("pi", 1)
	heard := s.untilDelivered("the second attempt to run", func(heard []eventlog.Entry) bool {
		return len(firstAccepted(heard, app)) == len(restarted.states)-2
	})
	failed := firstAccepted(heard, app)[5]
	before := s.get("pi")

	forged := func(change map[string]string) eventlog.Entry {
		d := failed
		d.Attributes = map[string]string{}
		for key, value := range failed.Attributes {
			d.Attributes[key] = value
		}
		for key, value := range change {
			d.Attributes[key] = value
		}
		return d
	}
	source := failed.Attributes["source"]
	for name, c := range map[string]struct {
		handler *handler
		event   eventlog.Entry
		answer  int
	}{
		"a duplicate":                    {restart, failed, http.StatusNoContent},
		"a failure that never happened":  {restart, forged(map[string]string{"id": "x", "sparkattempt": "1", "sequence": "0000000011"}), http.StatusNoContent},
		"an early end of the time":       {ttl, forged(map[string]string{"type": "dev.firesteel.application.expired.v1"}), http.StatusNoContent},
		"another incarnation":            {restart, forged(map[string]string{"source": source[:len(source)-3] + "000"}), http.StatusNoContent},
		"another API":                    {restart, forged(map[string]string{"source": strings.Replace(source, "spark.apache.org", "example.org", 1)}), http.StatusNoContent},
		"an application that is not":     {ttl, forged(map[string]string{"source": strings.Replace(source, "/pi/", "/po/", 1), "subject": s.ns + "/po", "sparkname": "po"}), http.StatusNoContent},
		"a subject that contradicts":     {restart, forged(map[string]string{"subject": "default/pi"}), http.StatusBadRequest},
		"a source that leads elsewhere":  {ttl, forged(map[string]string{"source": "/apis/../../secrets"}), http.StatusBadRequest},
		"an event without specification": {restart, forged(map[string]string{"specversion": ""}), http.StatusBadRequest},
	} {
		if got := s.post(c.handler.url, c.event); got != c.answer {
			t.Errorf("%s: answered with %d, want %d", name, got, c.answer)
		}
	}
	if was, is := withoutCursor(before), withoutCursor(s.get("pi")); was != is {
		t.Errorf("the application was changed (-was +is):\n%s", cmp.Diff(was, is))
	}
}

// withoutCursor describes an application without what the controller writes while it is at rest.
func withoutCursor(app *sparkv1.SparkApplication) string {
	app = app.DeepCopy()
	app.ResourceVersion, app.Status.Firesteel.Acknowledged, app.Status.Firesteel.Usage = "", 0, nil
	meta.RemoveStatusCondition(&app.Status.Conditions, dialect.ConditionEventsDelivered)
	return described(app)
}

// handler is a handler function as a process of its own.
type handler struct {
	*process.Process
	env *env
	url string
}

// handler runs a handler function as its service account.
func (s *env) handler(name string) *handler {
	s.Helper()
	return s.function("handler-"+name, "handler", []string{"SYSTEM_NAMESPACE=" + firesteel.SystemNamespace}, name)
}

// function runs a program that takes events, as a service account of Firesteel's namespace.
func (s *env) function(account, program string, environment []string, arguments ...string) *handler {
	s.Helper()
	config, err := s.ConfigOf(s.Context(), firesteel.SystemNamespace, account)
	s.must(err)
	ports, err := process.FreePorts(1)
	s.must(err)
	started, err := s.startProcess(program, config, append(environment, fmt.Sprintf("PORT=%d", ports[0])), arguments...)
	s.must(err)
	s.Cleanup(started.Kill)
	h := &handler{Process: started, env: s, url: fmt.Sprintf("http://127.0.0.1:%d/", ports[0])}
	s.must(wait.PollUntilContextTimeout(s.Context(), pollInterval, timeout, true, func(ctx context.Context) (bool, error) {
		return h.healthy(ctx), nil
	}))
	return h
}

func (h *handler) healthy(ctx context.Context) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, h.url+"healthz", nil)
	if err != nil {
		return false
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	return response.Body.Close() == nil && response.StatusCode == http.StatusOK
}

// trigger takes all events and passes those on that have an attribute, as a broker's Trigger does. An empty value stands for all.
func (h *handler) trigger(attribute, value string) sink.Answer {
	return func(_ *http.Request, d eventlog.Entry) int {
		if got := d.Attributes[attribute]; got == "" || value != "" && got != value {
			return http.StatusAccepted
		}
		return h.env.post(h.url, d)
	}
}

// post sends an event as it was delivered, and returns the answer; 502 where there is none.
func (s *env) post(url string, d eventlog.Entry) int { return s.postAs(url, d, "") }

// postAs does the same with a header Authorization, if there is one.
func (s *env) postAs(url string, d eventlog.Entry, authorization string) int {
	request, err := http.NewRequest(http.MethodPost, url, strings.NewReader(d.Body))
	if err != nil {
		return http.StatusBadGateway
	}
	if authorization != "" {
		request.Header.Set("Authorization", authorization)
	}
	for key, value := range d.Attributes {
		switch {
		case key == "content-type":
			request.Header.Set(key, value)
		case value != "":
			request.Header.Set("ce-"+key, value)
		}
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return http.StatusBadGateway
	}
	defer response.Body.Close()
	return response.StatusCode
}

// configured sets a key of a config map for the time of the test.
func (s *env) configured(configMap, key, value string) {
	s.Helper()
	s.must(s.Configure(s.Context(), configMap, map[string]string{key: value}))
	s.Cleanup(func() {
		if err := s.Configure(context.Background(), configMap, map[string]string{key: ""}); err != nil {
			s.Error(err)
		}
	})
}
