package integration

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/test/harness/controlplane"
)

// budget is what the controller may ask of the API server for one life: a number of requests of each kind.
type budget map[string]int

// plainBudget is that of a life without restart that lasts less than 30 s. Some creates run in parallel, and so have no
// order, but each is its own.
func plainBudget(creates ...string) budget {
	b := budget{
		"patch sparkapplications":         2,
		"update sparkapplications/status": 5,
		"delete pods":                     1,
		"create events":                   2,
	}
	for _, create := range creates {
		b["create "+create]++
	}
	return b
}

func TestWriteBudgetOfAnApplication(t *testing.T) {
	t.Parallel()
	templated := func() *application { return App("pi").Executor(corev1.PodSpec{PriorityClassName: "low"}) }
	for name, test := range map[string]struct {
		app     *application
		objects []string
	}{
		"on Spark 4.1.1":              {App("pi").Spark("4.1.1"), []string{"pods", "services", "configmaps"}},
		"on Spark 4.2.0":              {App("pi").Spark("4.2.0"), []string{"pods", "services", "configmaps", "networkpolicies"}},
		"with a template":             {templated().Spark("4.1.1"), []string{"pods", "services", "configmaps", "configmaps"}},
		"with a template in the same": {templated().Spark("4.1.1").Annotation(dialect.AnnotationDriverConfigMaps, "one"), []string{"pods", "services", "configmaps"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			newEnv(t).sharesController().storesRecords()
			s := newEnv(t).sharesController()
			app := s.create(test.app)
			s.run("pi", 0).succeed()
			s.untilState("pi", "ResourceReleased")
			s.untilPublished(app, plainRun...)
			until(s, s.apps(), "pi", "hold no finalizer", func(app *sparkv1.SparkApplication) bool { return len(app.Finalizers) == 0 })
			s.untilKubeEvent("pi", corev1.EventTypeNormal, "Succeeded") // Events come late where there is much to do
			life := s.requestsAtRest()
			s.delete("pi")
			untilGone(s, s.apps(), "pi")
			s.wantNoRequestsSince(life)
			allowed := plainBudget(test.objects...)
			allowed["update sparkapplications/status"] += int(time.Since(app.CreationTimestamp.Time) / (30 * time.Second)) // on a slow machine: each is a cursor written
			s.wantWithinBudget(allowed, s.requestsAtRest())
		})
	}
}

// storesRecords makes an application that has a record, so that each controller knows that the API server stores records, from its start on:
// only then can it fence a first launch without a status write.
func (s *env) storesRecords() {
	s.Helper()
	s.create(App("stored"))
	s.run("stored", 0).succeed()
	s.untilState("stored", "ResourceReleased")
}

// storesKubeflowRecords is the same for the Kubeflow kind.
func (s *env) storesKubeflowRecords() {
	s.Helper()
	s.kubeflowApplication(sparkPi("4.1.1"))
	s.kubeflowDriver("spark-pi").succeed()
	s.untilShown("spark-pi", v1beta2.CompletedState)
}

// wantNoRequestsSince checks that the controller sent no request since.
func (s *env) wantNoRequestsSince(before []controlplane.Request) {
	s.Helper()
	if since := s.requestsAtRest()[len(before):]; len(since) > 0 {
		s.Errorf("the deletion of a finished application cost %v", since)
	}
}

// The cursor of an application at rest is written once. Then the application costs nothing.
func TestWriteBudgetOfTheCursorAtRest(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	app := s.create(App("pi"))
	s.run("pi", 0)
	s.untilPublished(app, plainRun[:5]...)
	s.untilKubeEvent("pi", corev1.EventTypeNormal, "DriverRequested")
	before := len(s.requestsAtRest())
	if c := s.condition("pi", "EventsDelivered"); c.Reason != "Pending" {
		t.Errorf("before it is recorded that the sink took all events, the condition is %+v", c)
	}
	rested := s.untilAcknowledged("pi", 5)
	s.untilCondition("pi", "EventsDelivered", metav1.ConditionTrue, "Delivered")
	if age := time.Since(rested.Status.Firesteel.Transitions[4].Time.Time); age < 29*time.Second {
		t.Errorf("the cursor was written %s after the last transition", age)
	}
	after := s.requestsAtRest()[before:]
	if len(after) != 1 || after[0].Kind() != "update sparkapplications/status" {
		t.Errorf("at rest the controller asked for %v, want one status write", after)
	}
}

// How much of the binary is resident is the kernel's choice, which can drop it; the rest is the controller's own.
func TestControllerMemoryAtRest(t *testing.T) {
	t.Parallel()
	const limit = 24 << 10 // KiB
	s := ownPlane(t)       // in which other tests leave nothing that is cached
	process := s.ownController(controller{sink: s.sink.URL()})
	s.create(App("pi"))
	s.run("pi", 0).succeed()
	s.untilState("pi", "ResourceReleased")
	s.requestsAtRest()
	total, own := residentKiB(s, process.Pid(), "VmRSS:"), residentKiB(s, process.Pid(), "RssAnon:")
	if t.Logf("%d KiB are resident, %d of them without a file", total, own); own > limit {
		t.Errorf("%d KiB without a file are resident at rest, want at most %d", own, limit)
	}
}

func residentKiB(s *env, pid int, what string) (size int) {
	s.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	s.must(err)
	_, after, _ := strings.Cut(string(text), what)
	_, err = fmt.Sscan(after, &size)
	s.must(err)
	return size
}

// requestsAtRest are the controller's requests about the env, once no more come.
func (s *env) requestsAtRest() []controlplane.Request {
	s.Helper()
	var requests []controlplane.Request
	quietSince := time.Now()
	s.must(wait.PollUntilContextTimeout(s.Context(), pollInterval, timeout, true, func(context.Context) (bool, error) {
		now := s.requests()
		if len(now) != len(requests) {
			requests, quietSince = now, time.Now()
		}
		return time.Since(quietSince) > 1500*time.Millisecond, nil
	}))
	return requests
}

// requests are the controller's about the env, until now.
func (s *env) requests() []controlplane.Request {
	s.Helper()
	all, err := s.audit.Requests()
	s.must(err)
	return slices.DeleteFunc(slices.Clone(all), func(r controlplane.Request) bool { return r.Namespace != s.ns })
}

// wantWithinBudget checks requests against a budget, and prints both. What the budget does not name, costs nothing, or
// was refused, is beyond it.
func (s *env) wantWithinBudget(allowed budget, requests []controlplane.Request) {
	s.Helper()
	spent := map[string]int{}
	for _, request := range requests {
		spent[request.Kind()]++
		if request.Code >= 400 {
			s.Errorf("refused: %s", request)
		}
	}
	if patched := spent["patch events"]; patched > 0 { // an Event that is repeated
		spent["create events"] += patched
		delete(spent, "patch events")
	}
	s.Log("\n" + account(allowed, spent))
	for kind, count := range spent {
		switch limit, named := allowed[kind]; {
		case !named:
			s.Errorf("%s is not in the budget, and was asked %d times", kind, count)
		case count > limit:
			s.Errorf("%s: %d, and the budget is %d", kind, count, limit)
		}
	}
	for kind := range allowed {
		if spent[kind] == 0 {
			s.Errorf("%s was never asked: does the audit log hold all?", kind)
		}
	}
}

func account(allowed budget, spent map[string]int) string {
	kinds := map[string]bool{}
	for kind := range allowed {
		kinds[kind] = true
	}
	for kind := range spent {
		kinds[kind] = true
	}
	var table strings.Builder
	fmt.Fprintf(&table, "%-34s %6s %6s\n", "request", "spent", "budget")
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		fmt.Fprintf(&table, "%-34s %6d %6d\n", kind, spent[kind], allowed[kind])
	}
	return table.String()
}
