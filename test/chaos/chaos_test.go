package chaos

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/applications"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/test/harness/gateway"
	"github.com/firesteel-dev/firesteel/test/harness/process"
)

var (
	seedFlag     = flag.Uint64("chaos.seed", 0, "draw what an earlier run drew")
	faultsFlag   = flag.Int("chaos.faults", 0, "the number of faults after which the run ends; 0 for as many as there is time for")
	replicaFlag  = flag.Bool("chaos.replica", false, "have Firesteel use an API server of its own, which is killed too")
	guardFlag    = flag.Duration("chaos.guard", 8*time.Second, "how long the controller runs in one way")
	versionsFlag = flag.String("chaos.versions", "", "a commit whose controller and handlers take turns with today's")
	restoreFlag  = flag.Bool("chaos.restore", false, "have the API server be restored from backups; without chaos.replica")
	lengthFlag   = flag.Duration("chaos.length", 25*time.Second, "the longest that faults are injected")
)

const (
	// deletionGrace is so long that a tenant whose subscriber is dead loses no event, however long the faults last.
	deletionGrace = 3 * time.Hour
	// patience is how long anything may take after the last fault. It is far longer than anything takes, also on a slow machine: the longest
	// back-off is that of an application that failed again and again, 5 s longer with each failure.
	patience = 5 * time.Minute
	// rarely is how long a run goes on for the kinds of faults that it lacks. Whether one is possible depends on what the applications do, and
	// a slow machine has few Pods whose labels may be taken.
	rarely = 10 * time.Minute
	// poll is how often is looked at what cannot be watched.
	poll = 100 * time.Millisecond
)

func TestChaos(t *testing.T) {
	seed := *seedFlag
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("to draw the same again: -chaos.seed=%d", seed)
	dir, err := os.MkdirTemp("", "firesteel-chaos-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("logs are in %s", dir)
			return
		}
		_ = os.RemoveAll(dir)
	})
	run := &run{T: t, began: time.Now()}
	t.Cleanup(func() {
		if len(run.failures) > 0 {
			t.Logf("failed:\n  %s", strings.Join(run.failures, "\n  "))
		}
	})
	t.Cleanup(run.end)
	run.begin(dir, seed)
	run.injectFaults()
	run.settle()
	run.checkInvariants()
}

// run is a run of the test.
type run struct {
	*testing.T
	*env
	began time.Time
	// failures are what failed until now. They are printed once more at the end, where a reader looks first.
	failures  []string
	calm      []*workload
	wild      []*workload
	workloads []*workload
	// listening ends when no more events are expected.
	listening errgroup.Group
	stop      context.CancelFunc
}

func (r *run) must(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

// fail reports what failed, and goes on.
func (r *run) fail(format string, arguments ...any) {
	r.Helper()
	r.failures = append(r.failures, fmt.Sprintf(format, arguments...))
	r.Errorf(format, arguments...)
}

func (r *run) logf(format string, arguments ...any) {
	r.Helper()
	r.Logf("%5.1fs  %s", time.Since(r.began).Seconds(), fmt.Sprintf(format, arguments...))
}

// begin starts everything, without faults.
func (r *run) begin(dir string, seed uint64) {
	ctx := r.Context()
	rates := gateway.Rates{Write: 0.08, Read: 0.05, TooOld: 0.5, WatchLife: 4 * time.Second, Stale: 0.03, Delay: 1500 * time.Millisecond}
	var err error
	r.env, err = newEnv(ctx, dir, seed, rates, newCounters(*faultsFlag))
	r.must(err)
	for i := range 2 {
		r.calm = append(r.calm, newWorkload(r.env, fmt.Sprintf("calm-%d", i), 8, 0))
	}
	r.calm = append(r.calm, newWorkload(r.env, deadTenant, 4, 0), newWorkload(r.env, slowTenant, 4, 0))
	r.wild = []*workload{newWorkload(r.env, "wild", 10, 15), newWorkload(r.env, "tight", 6, 10)}
	r.workloads = append(append(r.workloads, r.calm...), r.wild...)
	for _, p := range r.workloads {
		r.must(r.AddNamespace(ctx, p.namespace))
	}
	r.must(r.Configure(ctx, "config-leader-election", map[string]string{
		"buckets": "2", "lease-duration": "3s", "renew-deadline": "2s", "retry-period": "500ms",
	}))
	r.must(r.Configure(ctx, "config-events", map[string]string{"deletion-grace": deletionGrace.String()}))
	if r.archiving != nil {
		r.must(r.configureArchive(ctx))
	}
	for _, m := range []process.Spec{r.sink, r.restart, r.ttl, r.webhook} {
		r.must(r.supervisor.Add(ctx, m))
	}
	listening, stop := context.WithCancel(ctx)
	r.stop = stop
	r.listening.Go(func() error { return r.listen(listening) })
}

// end ends what still runs.
func (r *run) end() {
	if r.env != nil {
		r.env.close()
	}
}

// injectFaults injects faults until there were enough, or an invariant is violated.
func (r *run) injectFaults() {
	r.logf("faults begin")
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	r.gateway.Storm()
	r.stormOnStorage(true)
	r.stormy.Store(true)
	r.replaceSink()
	group, ctx := errgroup.WithContext(ctx)
	for _, p := range r.workloads {
		group.Go(func() error { return p.runApplications(ctx) })
	}
	for _, a := range r.actors(r.wild, r.wild[1]) {
		group.Go(func() error { return r.perform(ctx, a) })
	}
	if *versionsFlag == "" {
		group.Go(func() error { return r.perform(ctx, r.labelTaker(r.wild)) })
		group.Go(func() error { return r.loseNodes(ctx) })
	}
	group.Go(func() error { return r.outages(ctx) })
	group.Go(func() error { return r.siege(ctx) })
	if *restoreFlag {
		group.Go(func() error { return r.restores(ctx) })
	}
	group.Go(func() error { return r.changeGuards(ctx) })
	group.Go(func() error { return r.killers(ctx) })
	group.Go(func() error { return r.askWebhook(ctx) })
	group.Go(func() error { return r.report(ctx) })
	group.Go(func() error {
		defer cancel()
		return r.enough(ctx)
	})
	r.must(group.Wait())
	r.gateway.Calm()
	r.stormOnStorage(false)
	r.stormy.Store(false)
	r.replaceSink()
	r.logf("faults are over")
}

// enough waits until there were as many faults as are wanted, or for as long as they may take, and for one of each.
func (r *run) enough(ctx context.Context) error {
	select {
	case <-r.counters.enough:
	case <-time.After(*lengthFlag):
	case <-ctx.Done():
	}
	ctx, cancel := context.WithTimeout(ctx, rarely)
	defer cancel()
	for len(r.counters.missing(wanted())) > 0 && ctx.Err() == nil {
		select {
		case <-time.After(poll):
		case <-ctx.Done():
		}
	}
	return nil
}

// replaceSink starts another sink, which fails or not.
func (r *run) replaceSink() {
	r.supervisor.Remove("sink", false)
	r.must(r.supervisor.Add(r.Context(), r.sink))
}

// report prints the progress of the run, and ends it early if an invariant is already violated.
func (r *run) report(ctx context.Context) error {
	ticker := time.NewTicker(max(5*time.Second, *lengthFlag/200))
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return nil
		}
		r.logf("%d faults, %d applications came to their ends", r.counters.sum(), r.history.Ended())
		if violations := r.violations(); len(violations) > 0 {
			return fmt.Errorf("%d violations, of which the first is: %s", len(violations), violations[0])
		}
	}
}

// violations returns those until now.
func (r *run) violations() []string {
	return append(texts(r.history.Violations()), r.supervisor.Violations()...)
}

func texts(violations []error) []string {
	var texts []string
	for _, violation := range violations {
		texts = append(texts, violation.Error())
	}
	return texts
}

// settle waits until nothing changes any more.
func (r *run) settle() {
	ctx := r.Context()
	for _, p := range r.wild {
		r.must(persist(ctx, func(ctx context.Context) error {
			return ignore(r.Kube.CoreV1().ResourceQuotas(p.namespace).Delete(ctx, "quota", metav1.DeleteOptions{}), apierrors.IsNotFound)
		}))
	}
	r.doToAll("resumed", (*workload).resume, func(dialect.Application) bool { return true })
	calmed := time.Now()
	r.until("what starts over to do so", func() ([]string, error) {
		return r.inAllNamespaces(func(p *workload) ([]string, error) { return p.stuck(ctx, calmed) })
	})
	r.doToAll("deleted", (*workload).remove, func(app dialect.Application) bool { return app.GetLabels()[labelKind] == startsOver })
	r.until("all applications to come to rest", func() ([]string, error) {
		restless, err := r.inAllNamespaces(func(p *workload) ([]string, error) { return p.restless(ctx) })
		return append(restless, texts(r.history.Undelivered())...), err
	})
	r.until("the webhook to answer", func() ([]string, error) {
		if answer := r.webhookAnswer(ctx); answer != webhookRefuses {
			return []string{"an application that it refuses: " + answer}, nil
		}
		return nil, nil
	})
	r.logf("all applications are at rest")
	r.doToAll("deleted", (*workload).remove, func(dialect.Application) bool { return true })
	r.until("nothing to be left", func() ([]string, error) {
		left, err := r.leftovers(ctx)
		return append(left, texts(r.history.Undelivered())...), err
	})
	r.logf("nothing is left")
}

// inAllNamespaces returns what is found in all namespaces.
func (r *run) inAllNamespaces(find func(*workload) ([]string, error)) ([]string, error) {
	var all []string
	for _, p := range r.workloads {
		found, err := find(p)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// doToAll does something to all existing applications that match, until it was done to each, or the application is gone.
func (r *run) doToAll(
	done string, do func(*workload, context.Context, dialect.Application) bool, sort func(dialect.Application) bool,
) {
	did := map[types.UID]bool{}
	r.until("all applications to be "+done, func() (left []string, err error) {
		for _, p := range r.workloads {
			for _, app := range p.present() {
				switch {
				case did[app.GetUID()], !sort(app):
				case do(p, r.Context(), app):
					did[app.GetUID()] = true
				default:
					left = append(left, p.namespace+"/"+app.GetName())
				}
			}
		}
		return left, nil
	})
}

// until waits until no obstacle is left.
func (r *run) until(what string, obstacles func() ([]string, error)) {
	r.Helper()
	deadline := time.Now().Add(patience)
	ticker, report := time.NewTicker(poll), time.NewTicker(15*time.Second)
	defer ticker.Stop()
	defer report.Stop()
	for {
		list, err := obstacles()
		if err != nil { // the API server may be slow
			list = []string{err.Error()}
		}
		if len(list) == 0 {
			return
		}
		if time.Now().After(deadline) {
			r.fail("waited %s for %s:\n  %s", patience, what, strings.Join(list, "\n  "))
			return
		}
		select {
		case <-ticker.C:
		case <-report.C:
			r.logf("still waiting for %s:\n  %s", what, strings.Join(list, "\n  "))
		}
	}
}

// made are the kinds of objects that an application or Firesteel makes.
var made = slices.Concat(applicationKinds(), []schema.GroupVersionResource{
	{Version: "v1", Resource: "pods"}, {Version: "v1", Resource: "services"}, {Version: "v1", Resource: "configmaps"},
	{Version: "v1", Resource: "secrets"}, {Version: "v1", Resource: "persistentvolumeclaims"},
	{Group: "networking.k8s.io", Version: "v1", Resource: "networkpolicies"},
})

func applicationKinds() (kinds []schema.GroupVersionResource) {
	for _, api := range applications.All(nil) {
		kinds = append(kinds, api.GroupVersionResource())
	}
	return kinds
}

// leftovers returns what exists of the applications.
func (r *run) leftovers(ctx context.Context) ([]string, error) {
	var left []string
	for _, p := range r.workloads {
		for _, kind := range made {
			list, err := r.Dynamic.Resource(kind).Namespace(p.namespace).List(ctx, metav1.ListOptions{})
			if err != nil {
				return nil, err
			}
			for _, object := range list.Items {
				left = append(left, fmt.Sprintf("%s %s/%s", kind.Resource, p.namespace, object.GetName()))
			}
		}
	}
	return left, nil
}
