package integration

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/test/harness/eventlog"
	"github.com/firesteel-dev/firesteel/test/harness/firesteel"
	"github.com/firesteel-dev/firesteel/test/harness/sink"
)

// tokenFor is a token of the env's service account for an audience, as Knative asks for one.
func (s *env) tokenFor(audiences ...string) string {
	s.Helper()
	answer, err := s.Kube.CoreV1().ServiceAccounts(s.ns).CreateToken(s.Context(), "default",
		&authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{Audiences: audiences}}, metav1.CreateOptions{})
	s.must(err)
	return answer.Status.Token
}

func TestHandlerAcceptsOnlyTokensForItsAudience(t *testing.T) {
	alone(t)
	const audience = "firesteel-handler-restart"
	s := newEnv(t)
	s.configured("config-handlers", "restart", "external")
	s.ownController(controller{sink: s.sink.URL()})
	restart := s.function("handler-restart", "handler",
		[]string{"SYSTEM_NAMESPACE=" + firesteel.SystemNamespace, "OIDC_AUDIENCE=" + audience}, "restart")
	s.create(App("pi").Restart(sparkv1.RestartOnFailure, 3, 0))
	s.run("pi", 0).exit(1)
	heard := s.untilDelivered("the handler to be asked", func(heard []eventlog.Entry) bool { return requestsOf(heard, 0) >= 1 })
	failed := heard[len(heard)-1]
	for _, d := range heard {
		if d.State() == "Failed" {
			failed = d
		}
	}
	right := s.tokenFor(audience)
	parts := strings.Split(right, ".")
	for name, authorization := range map[string]string{
		"no token":               "",
		"a token for the server": "Bearer " + s.tokenFor(),
		"another audience":       "Bearer " + s.tokenFor("firesteel-handler-ttl"),
		"a forged signature":     "Bearer " + parts[0] + "." + parts[1] + "." + strings.Repeat("A", len(parts[2])),
		"no signature":           "Bearer eyJhbGciOiJub25lIn0." + parts[1] + ".",
	} {
		if got := s.postAs(restart.url, failed, authorization); got != http.StatusUnauthorized {
			t.Errorf("%s: the answer is %d, want 401", name, got)
		}
	}
	if state := stateOf(s.get("pi")); state != "Failed" {
		t.Errorf("it is %s after events without a token, want Failed", state)
	}
	s.sink.SetAnswer(s.ns, func(_ *http.Request, d eventlog.Entry) int {
		if d.Attributes["sparkrestartallowed"] != "true" {
			return http.StatusAccepted
		}
		return s.postAs(restart.url, d, "Bearer "+right)
	})
	s.run("pi", 1)
}

// A client that reaches the port may open connections and send nothing, or half of an event. The Broker is served beside them.
func TestHandlerServesTheBrokerBesideIdleConnections(t *testing.T) {
	alone(t)
	s := newEnv(t)
	s.configured("config-handlers", "restart", "external")
	s.ownController(controller{sink: s.sink.URL()})
	restart := s.handler("restart")
	address, err := url.Parse(restart.url)
	s.must(err)
	for _, begins := range []string{
		"", "POST / HTTP/1.1\r\nHost:",
		"POST / HTTP/1.1\r\nHost: h\r\nContent-Type: application/cloudevents+json\r\nContent-Length: 1000\r\n\r\n{",
		"POST / HTTP/1.1\r\nHost: h\r\nContent-Type: application/cloudevents+json\r\nContent-Length: 1000000\r\n\r\n" + strings.Repeat(" ", 100_000),
	} {
		for range 100 {
			connection, err := net.Dial("tcp", address.Host)
			s.must(err)
			defer connection.Close()
			_, err = io.WriteString(connection, begins)
			s.must(err)
		}
	}
	var refused atomic.Int32
	s.sink.SetAnswer(s.ns, func(_ *http.Request, d eventlog.Entry) int {
		if d.Attributes["sparkrestartallowed"] != "true" {
			return http.StatusAccepted
		}
		status := s.post(restart.url, d)
		if status != http.StatusNoContent {
			refused.Add(1)
		}
		return status
	})
	s.create(App("pi").Restart(sparkv1.RestartOnFailure, 3, 0))
	s.run("pi", 0).exit(1)
	s.run("pi", 1)
	if got := refused.Load(); got > 0 {
		t.Errorf("the handler refused the Broker %d times", got)
	}
}

// The events of one team are held by a Trigger that is dead. Those of another team are delivered meanwhile, and its handlers are
// asked through the sink.
func TestDeliveryToADeadTriggerDelaysNoOtherNamespace(t *testing.T) {
	alone(t)
	const held = 90 // more than the slots of one namespace, and than all slots of a relay without shares
	dead, s := newEnv(t), newEnv(t)
	s.configured("config-handlers", "restart", "external")
	release := make(chan struct{})
	var atFirst, holding, ended atomic.Int32
	hold := func(until <-chan struct{}, holding *atomic.Int32) sink.Answer {
		return func(request *http.Request, _ eventlog.Entry) int {
			holding.Add(1)
			defer holding.Add(-1)
			select {
			case <-until:
			case <-request.Context().Done():
				ended.Add(1)
			}
			return http.StatusServiceUnavailable
		}
	}
	launched := make(chan struct{})
	dead.sink.SetAnswer(dead.ns, hold(launched, &atFirst))
	s.ownController(controller{sink: s.sink.URL()})
	restart := s.handler("restart")
	s.sink.SetAnswer(s.ns, restart.trigger("sparkrestartallowed", "true"))
	for n := range held {
		dead.create(App(fmt.Sprintf("pi-%d", n)))
	}
	dead.must(wait.PollUntilContextTimeout(dead.Context(), 100*time.Millisecond, timeout, true, func(ctx context.Context) (bool, error) {
		drivers, err := dead.Kube.CoreV1().Pods(dead.ns).List(ctx, metav1.ListOptions{})
		return err == nil && len(drivers.Items) == held, err
	}))
	// A sender gives up after a minute. Until all are launched, more than that may have passed: from here on others are held.
	dead.sink.SetAnswer(dead.ns, hold(release, &holding))
	close(launched)
	dead.must(wait.PollUntilContextTimeout(dead.Context(), pollInterval, timeout, true, func(context.Context) (bool, error) {
		return holding.Load() >= 32, nil // as many as one namespace has slots
	}))
	alreadyEnded := ended.Load()
	app := s.create(App("pi").Restart(sparkv1.RestartOnFailure, 3, 0))
	s.run("pi", 0).exit(1)
	s.run("pi", 1).succeed()
	s.untilPublished(app, restarted.states...)
	if got := ended.Load() - alreadyEnded; got > 0 {
		t.Errorf("meanwhile %d events that were held came to their end: the others may have waited for that", got)
	}
	close(release)
}
