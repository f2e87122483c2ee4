package integration

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/test/harness/eventlog"
	"github.com/firesteel-dev/firesteel/test/harness/firesteel"
	"github.com/firesteel-dev/firesteel/test/harness/process"
	"github.com/firesteel-dev/firesteel/test/harness/sink"
)

// replica is a controller that takes part in elections, and is probed and measured.
type replica struct {
	*process.Process
	proxy           *faultyServer
	probes, metrics string
}

// replica runs a controller that cannot have some of the leases.
func (s *env) replica(without ...string) *replica {
	s.Helper()
	config, err := s.ConfigOf(s.Context(), firesteel.SystemNamespace, "controller")
	s.must(err)
	p, err := newFaultyServer(config, s.ns)
	s.must(err)
	s.Cleanup(p.close)
	p.refuse(without...)
	started, ports := s.ownControllerWithPorts(controller{config: p.config(), sink: s.sink.URL(), replica: true})
	return &replica{
		Process: started,
		proxy:   p,
		probes:  fmt.Sprintf("http://127.0.0.1:%d", ports.Probe),
		metrics: fmt.Sprintf("http://127.0.0.1:%d/metrics", ports.Metrics),
	}
}

// fetch reads a page; the status is 0 without a response.
func (s *env) fetch(url string) (status int, text string) {
	s.Helper()
	request, err := http.NewRequestWithContext(s.Context(), http.MethodGet, url, nil)
	s.must(err)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err.Error()
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	s.must(err)
	return response.StatusCode, string(body)
}

// untilAnswered waits until a page has a status.
func (s *env) untilAnswered(url string, want int) {
	s.Helper()
	status := 0
	err := wait.PollUntilContextTimeout(s.Context(), pollInterval, timeout, true, func(context.Context) (bool, error) {
		status, _ = s.fetch(url)
		return status == want, nil
	})
	if err != nil {
		s.Fatalf("waited for %s to answer %d; it answered %d", url, want, status)
	}
}

// untilLed waits until a number of replicas leads the buckets of the Apache kind, and returns how many each. Each kind has
// leases of its own.
func (s *env) untilLed(buckets, replicas int) map[string]int {
	s.Helper()
	var led map[string]int
	err := wait.PollUntilContextTimeout(s.Context(), pollInterval, timeout, true, func(ctx context.Context) (bool, error) {
		leases, err := s.Kube.CoordinationV1().Leases(firesteel.SystemNamespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		held := 0
		led = map[string]int{}
		for _, lease := range leases.Items {
			ours := strings.Contains(lease.Name, ".sparkapplication.") && strings.HasSuffix(lease.Name, fmt.Sprintf("-of-%02d", buckets))
			if holder := lease.Spec.HolderIdentity; ours && holder != nil && *holder != "" {
				held++
				led[*holder]++
			}
		}
		return held == buckets && len(led) == replicas, nil
	})
	if err != nil {
		s.Fatalf("waited for %d replicas to lead %d buckets: %v", replicas, buckets, led)
	}
	return led
}

func TestReplicasShareTheApplications(t *testing.T) {
	alone(t)
	const buckets, applications = 4, 16
	s := newEnv(t)
	s.configured("config-leader-election", "buckets", fmt.Sprint(buckets))
	dying, heir := s.replica(".02-of-04", ".03-of-04"), s.replica(".00-of-04", ".01-of-04")
	t.Logf("buckets led: %v", s.untilLed(buckets, 2))
	s.sink.SetAnswer(s.ns, func(*http.Request, eventlog.Entry) int { return http.StatusServiceUnavailable })

	apps := map[string]*sparkv1.SparkApplication{}
	drivers := map[string]*driver{}
	for i := range applications {
		name := fmt.Sprintf("pi-%d", i)
		apps[name] = s.create(App(name))
	}
	for name := range apps {
		drivers[name] = s.run(name, 0)
	}
	for name := range apps {
		if len(dying.proxy.written(name)) > 0 == (len(heir.proxy.written(name)) > 0) {
			t.Errorf("%s was written by one replica %v and by the other %v", name, dying.proxy.written(name), heir.proxy.written(name))
		}
	}
	mine := slices.DeleteFunc(sortedNames(apps), func(name string) bool { return len(dying.proxy.written(name)) == 0 })
	if len(mine) == 0 || len(mine) == len(apps) {
		t.Fatalf("one replica does the work: %v of %d applications are one's", mine, len(apps))
	}

	heir.proxy.refuse()
	for i := range applications { // some of which are in the middle of their launch
		name := fmt.Sprintf("late-%d", i)
		apps[name] = s.create(App(name))
	}
	dying.Kill()
	killed := time.Now()
	s.sink.SetAnswer(s.ns, sink.Accept)
	for _, d := range drivers {
		d.succeed()
	}
	for _, name := range mine {
		s.untilState(name, "ResourceReleased")
	}
	t.Logf("the %d applications of the replica that died went on within %s", len(mine), time.Since(killed).Round(time.Second/10))
	for name, app := range apps {
		if _, early := drivers[name]; !early {
			s.run(name, 0).succeed()
		}
		s.untilState(name, "ResourceReleased")
		s.untilPublished(app, plainRun...)
		if all := s.untilHad(name, 1); len(all) != 1 {
			t.Errorf("%s had %d drivers", name, len(all))
		}
	}

	third := s.replica()
	s.untilAnswered(third.probes+"/readiness", http.StatusOK)
	s.must(heir.Stop())
	stopped := time.Now()
	<-heir.Done()
	s.create(App("last"))
	s.run("last", 0)
	t.Logf("those of the replica that was stopped went on within %s", time.Since(stopped).Round(time.Second/10))
	s.untilLed(buckets, 1)
}

func sortedNames(apps map[string]*sparkv1.SparkApplication) []string {
	var names []string
	for name := range apps {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// unmeasured are the metrics of what does not happen in the life of an application, and that of the webhook.
var unmeasured = []string{
	"firesteel_events_rejected_total", "firesteel_handlers_overdue_total",
	"firesteel_schedule_run_delay_seconds", "firesteel_schedule_runs_missed_total", "firesteel_schedule_runs_refused_total",
	"rest_client_request_retries_total", "firesteel_namespace_refused", "firesteel_attempts_archived_total", "firesteel_usage_gap_seconds_total", "firesteel_usage_gpu_seconds_total",
	"firesteel_usage_pod_seconds_total", "firesteel_usage_core_seconds_total", "firesteel_usage_gib_seconds_total", // Pods may live for less than a second
	"firesteel_webhook_certificate_remaining_seconds",
}

func TestReplicaServesProbesMetricsAndTraces(t *testing.T) {
	alone(t)
	s := newEnv(t)
	s.configured("config-observability", "tracing-protocol", "stdout")
	var traced atomic.Value
	var failed atomic.Bool
	s.sink.SetAnswer(s.ns, func(request *http.Request, d eventlog.Entry) int {
		if d.State() == "DriverRequested" && failed.CompareAndSwap(false, true) {
			return http.StatusServiceUnavailable
		}
		traced.Store(request.Header.Get("Traceparent"))
		return http.StatusAccepted
	})
	r := s.replica()
	s.untilAnswered(r.probes+"/readiness", http.StatusOK)
	s.untilAnswered(r.probes+"/health", http.StatusOK)
	s.create(App("lasting"))
	s.run("lasting", 0)
	s.createCluster(Cluster("c"))
	s.untilClusterState("c", "Submitted")
	s.runThrough(restarted, "pi")
	t.Logf("%s", residentMemory(t, r.Pid()))

	s.untilAnswered(r.metrics, http.StatusOK)
	var metrics string
	var missing, absent []string
	patterns := []string{
		`firesteel_applications{firesteel_state="RunningHealthy",.*} 1`,
		`firesteel_application_transitions_total{firesteel_state="Failed",.*} 1`,
		`firesteel_namespace_attempts_ended_total{firesteel_state="Failed",k8s_namespace_name="` + s.ns + `",.*} 1`,
		`firesteel_namespace_applications{firesteel_phase="Running",k8s_namespace_name="` + s.ns + `",.*} 1`,
		`firesteel_application_transition_duration_seconds_count{firesteel_from="Failed",firesteel_to="ScheduledToRestart",.*} 1`,
		`firesteel_application_detection_duration_seconds_count{firesteel_to="RunningHealthy",.*} [1-3]`,
		`firesteel_api_requests_total{firesteel_resource="pods",firesteel_verb="create",http_response_status_code="201",.*} 3`,
		`firesteel_events_failed_total{cloudevents_event_type="dev.firesteel.application.driver-requested.v1",.*} 1`,
		`firesteel_events_pending{.*} 0`,
		`kn_workqueue_depth{.*} \d+`,
		`workqueue_adds_total{name="github.com.firesteel-dev.firesteel.pkg.reconciler.sparkapplication.Reconciler"} [1-9]\d*`,
		`rest_client_requests_total{code="201",.*,method="POST"} [1-9]\d*`,
		`leader_election_master_status{name="controller.*sparkapplication.*.00-of-01"} 1`,
	}
	// The sink has an event before the controller has its answer.
	if err := wait.PollUntilContextTimeout(t.Context(), pollInterval, timeout, true, func(context.Context) (bool, error) {
		_, metrics = s.fetch(r.metrics)
		missing = slices.DeleteFunc(slices.Clone(patterns), func(pattern string) bool {
			return regexp.MustCompile("(?m)^" + pattern + "$").MatchString(metrics)
		})
		absent = slices.DeleteFunc(documented(t), func(name string) bool {
			return strings.Contains(metrics, "\n"+name) || slices.Contains(unmeasured, name)
		})
		return len(missing) == 0 && len(absent) == 0, nil
	}); err != nil {
		t.Errorf("%q are documented and not there, and %q do not match anything of\n%s", absent, missing, metrics)
	}

	s.untilLogged(r.Process, `"Name":"reconcile"`)
	s.untilLogged(r.Process, `"Name":"handle"`)
	parts := strings.Split(traced.Load().(string), "-")
	if len(parts) != 4 {
		t.Fatalf("the last event came with the traceparent %q", traced.Load())
	}
	s.untilLogged(r.Process, `"Name":"send","SpanContext":{"TraceID":"`+parts[1]+`","SpanID":"`+parts[2]+`"`)
}

// documented are the names that docs/operators/metrics.md says Prometheus reads.
func documented(t *testing.T) []string {
	t.Helper()
	page, err := os.ReadFile("../../docs/operators/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, row := range regexp.MustCompile("(?m)^\\|(?: `firesteel[^|]*\\|)? `((?:firesteel|workqueue|rest_client|leader_election|process)_[a-z_]+)`").FindAllStringSubmatch(string(page), -1) {
		names = append(names, row[1])
	}
	if len(names) < 25 {
		t.Fatalf("the page documents %v only", names)
	}
	return names
}

// residentMemory returns the resident memory of a process, from the kernel.
func residentMemory(t *testing.T, pid int) string {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	return string(regexp.MustCompile(`(?m)^VmRSS:.*$`).Find(status))
}

// A reconcile is in flight when another replica takes over: its status write is answered late. What it learns then is the other
// replica's to publish, and the handler is asked by that one alone.
func TestReplicaWithoutItsLeasePublishesNothing(t *testing.T) {
	alone(t)
	const lease = ".00-of-01"
	s := newEnv(t)
	s.configured("config-handlers", "restart", "external")
	for _, key := range [][2]string{{"retry-period", "1s"}, {"renew-deadline", "4s"}, {"lease-duration", "6s"}} {
		s.configured("config-leader-election", key[0], key[1])
	}
	former := s.replica()
	s.untilLed(1, 1)
	heir := s.replica(lease)
	s.untilAnswered(heir.probes+"/readiness", http.StatusOK)
	s.create(App("pi").Restart(sparkv1.RestartOnFailure, 3, 0))
	d := s.run("pi", 0)

	held := make(chan struct{})
	released, release := s.untilCalled()
	former.proxy.setTrap("pi", trap{at: len(former.proxy.written("pi")) + 1, answered: true, late: true, spring: func() {
		close(held)
		<-released
	}})
	d.exit(1)
	s.untilClosed(held, "the request that is held")
	s.untilState("pi", "Failed") // the write that waits for its answer
	s.untilMetric(former, unfinished, func(seconds float64) bool { return seconds > 0 })
	heir.proxy.refuse()
	former.proxy.refuse(lease)
	s.untilMetric(heir, awaited, func(count float64) bool { return count == 1 })
	release()
	s.untilMetric(former, unfinished, func(seconds float64) bool { return seconds == 0 })
	s.untilMetric(former, awaited, func(count float64) bool { return count == 0 })
	s.untilMetric(former, pending, func(count float64) bool { return count == 0 })
}

// A reconcile is in flight when its object is deleted by force. Requests about the object end.
func TestDeliveryEndsWithTheObject(t *testing.T) {
	alone(t)
	s := newEnv(t)
	s.configured("config-handlers", "restart", "external")
	r := s.replica()
	s.untilLed(1, 1)
	s.create(App("pi").Restart(sparkv1.RestartOnFailure, 3, 0))
	d := s.run("pi", 0)
	held := make(chan struct{})
	released, release := s.untilCalled()
	r.proxy.setTrap("pi", trap{at: len(r.proxy.written("pi")) + 1, answered: true, late: true, spring: func() {
		close(held)
		<-released
	}})
	d.exit(1)
	s.untilClosed(held, "the request that is held")
	s.untilMetric(r, unfinished, func(seconds float64) bool { return seconds > 0 })
	s.untilMetric(r, counted, func(count float64) bool { return count == 1 })
	s.edit("pi", func(app *sparkv1.SparkApplication) { app.Finalizers = nil })
	s.delete("pi")
	s.untilMetric(r, counted, func(count float64) bool { return count == 0 })
	release()
	s.untilMetric(r, unfinished, func(seconds float64) bool { return seconds == 0 })
	s.untilMetric(r, awaited, func(count float64) bool { return count == 0 })
	s.untilMetric(r, pending, func(count float64) bool { return count == 0 })
}

// A reconcile is in flight when another replica takes over: it has asked for a driver whose labels were changed. That driver is the
// other replica's to follow.
func TestReplicaWithoutItsLeaseFollowsNoDriver(t *testing.T) {
	alone(t)
	const lease = ".00-of-01"
	s := newEnv(t)
	for _, key := range [][2]string{{"retry-period", "1s"}, {"renew-deadline", "4s"}, {"lease-duration", "6s"}} {
		s.configured("config-leader-election", key[0], key[1])
	}
	former := s.replica()
	s.untilLed(1, 1)
	heir := s.replica(lease)
	s.untilAnswered(heir.probes+"/readiness", http.StatusOK)
	s.create(App("pi"))
	d := s.run("pi", 0)

	held := make(chan struct{})
	released, release := s.untilCalled()
	former.proxy.delay("/pods/"+d.Name, func() {
		close(held)
		<-released
	})
	s.relabel(d.Name, `{"labels":{"spark-role":null}}`)
	s.untilClosed(held, "the request that is held")
	heir.proxy.refuse()
	former.proxy.refuse(lease)
	s.untilRelabelled("pi", d.Name, labelChange{says: "label spark-role is missing"})
	release()
	s.untilMetric(former, unfinished, func(seconds float64) bool { return seconds == 0 })
	d.succeed()
	s.untilState("pi", "ResourceReleased")
	if former.proxy.follows(d.Name) || !heir.proxy.follows(d.Name) {
		t.Errorf("the driver is followed by the former leader: %t, by its heir: %t", former.proxy.follows(d.Name), heir.proxy.follows(d.Name))
	}
}

// Metrics of a replica, of all objects together.
const (
	counted    = `firesteel_applications\{[^}]*\}`
	unfinished = `kn_workqueue_unfinished_work_seconds\{[^}]*sparkapplication[^}]*\}`
	awaited    = `firesteel_handlers_awaited\{[^}]*\}`
	pending    = `firesteel_events_pending\{[^}]*\}`
)

// untilMetric waits until the sum of the metrics that match is as it should be.
func (s *env) untilMetric(r *replica, pattern string, holds func(sum float64) bool) {
	s.Helper()
	var page string
	err := wait.PollUntilContextTimeout(s.Context(), pollInterval, timeout, true, func(context.Context) (bool, error) {
		status, text := s.fetch(r.metrics)
		page = text
		sum := 0.0
		for _, found := range regexp.MustCompile(`(?m)^`+pattern+` (\S+)$`).FindAllStringSubmatch(text, -1) {
			value, err := strconv.ParseFloat(found[1], 64)
			if err != nil {
				return false, err
			}
			sum += value
		}
		return status == http.StatusOK && holds(sum), nil
	})
	if err != nil {
		s.Fatalf("waited for %s:\n%s", pattern, page)
	}
}
