package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	firesteelv1alpha1 "github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/schedule/variant"
	"github.com/firesteel-dev/firesteel/test/harness/eventlog"
)

const (
	idleSchedules = 10_000
	dueAtOnce     = 1_000
	// restTime is how long schedules at rest are watched.
	restTime = 20 * time.Second
	// atOnce is how many requests of these benchmarks run at once.
	atOnce = 32
)

// What runs are made from: held, they cost no more than their creation; launched, each has its driver's objects created
// at the same time.
const (
	launchedRun = `{"mainClass": "Main", "jars": "local:///main.jar", "runtimeVersions": {"sparkVersion": "4.1.1"}}`
	heldRun     = `{"suspend": true, "mainClass": "Main", "jars": "local:///main.jar", "runtimeVersions": {"sparkVersion": "4.1.1"}}`
)

// What ten thousand schedules cost while nothing is due, and how long it takes until all runs exist of a thousand that
// are due in the same second: held-s and launched-s, with the number of requests that each run then costs. The API server
// alone needs raw-s to create as many.
func BenchmarkSchedules(b *testing.B) {
	for b.Loop() {
		b.ReportMetric(rawCreates(b).Seconds(), "raw-s")
		s := newEnv(b)
		s.ownController(controller{})
		s.populate("idle", idleSchedules, hourly(), heldRun)
		before := len(s.requestsAtRest())
		waitUntil(b, time.Now().Add(restTime))
		b.ReportMetric(float64(len(s.requests())-before), "requests-at-rest")

		s.runsAtOnce(b, "held", heldRun)
		s.runsAtOnce(b, "launched", launchedRun)
	}
}

// How late a run's event is at the sink, at the median, where nothing else is to be done: late-ms.
func BenchmarkSchedulesAreOnTime(b *testing.B) {
	const runs = 5
	s := newEnv(b)
	s.ownController(controller{sink: s.sink.URL()})
	for b.Loop() {
		s.schedules(variant.Apache, "pi", "@every 2s", nil)
		heard := due(s.untilDelivered("the events of the runs", func(heard []eventlog.Entry) bool { return len(due(heard)) >= runs }))
		var late []time.Duration
		for _, d := range heard[:runs] {
			instant, err := time.Parse(time.RFC3339Nano, d.Attributes["time"])
			s.must(err)
			late = append(late, d.At.Sub(instant))
		}
		slices.Sort(late)
		b.ReportMetric(float64(late[runs/2].Microseconds())/1000, "late-ms")
	}
}

// runsAtOnce measures schedules that are due in the same second.
func (s *env) runsAtOnce(b *testing.B, name, run string) {
	b.Helper()
	due := time.Now().UTC().Add(90 * time.Second).Truncate(time.Minute)
	s.populate(name, dueAtOnce, fmt.Sprintf("%d %d * * *", due.Minute(), due.Hour()), run)
	before := len(s.requestsAtRest())
	if time.Now().After(due) {
		b.Fatalf("it took until after %s to create the schedules", due)
	}
	s.untilAdded(name, dueAtOnce)
	b.ReportMetric(time.Since(due).Seconds(), name+"-s")
	requests := s.requestsAtRest()[before:]
	b.ReportMetric(float64(len(requests))/dueAtOnce, "requests/"+name+"-run")
	spent := map[string]int{}
	for _, request := range requests {
		spent[fmt.Sprintf("%s -> %d", request.Kind(), request.Code)]++
	}
	b.Logf("%s: %v", name, spent)
}

// rawCreates returns how long the API server takes to create as many applications without a controller.
func rawCreates(b *testing.B) time.Duration {
	b.Helper()
	s := newEnv(b)
	begin := time.Now()
	s.inParallel(dueAtOnce, func(ctx context.Context, i int) error {
		app := &sparkv1.SparkApplication{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("raw-%d", i)}}
		if err := json.Unmarshal([]byte(heldRun), &app.Spec); err != nil {
			return err
		}
		_, err := s.apps().Create(ctx, app, metav1.CreateOptions{})
		return err
	})
	took := time.Since(begin)
	s.must(s.apps().DeleteCollection(b.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}))
	return took
}

// untilAdded waits for a number of runs of the schedules with a name. A watch costs less than what is measured.
func (s *env) untilAdded(name string, count int) {
	s.Helper()
	w, err := s.apps().Watch(s.Context(), metav1.ListOptions{})
	s.must(err)
	defer w.Stop()
	for event := range w.ResultChan() {
		run, ok := event.Object.(metav1.Object)
		if ok && event.Type == watch.Added && strings.HasPrefix(run.GetName(), name) {
			count--
		}
		if count == 0 {
			return
		}
	}
	s.Fatalf("%d runs did not come while they were watched", count)
}

// populate makes schedules of runs.
func (s *env) populate(name string, count int, text, run string) {
	s.Helper()
	s.inParallel(count, func(ctx context.Context, i int) error {
		schedule := &firesteelv1alpha1.ScheduledSparkApplication{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-%d", name, i)}}
		schedule.Spec.Schedule = text
		schedule.Spec.Template.Spec.Raw = json.RawMessage(run)
		_, err := s.Spark.FiresteelV1alpha1().ScheduledSparkApplications(s.ns).Create(ctx, schedule, metav1.CreateOptions{})
		return err
	})
}

// inParallel does something a number of times, several at once.
func (s *env) inParallel(count int, do func(ctx context.Context, i int) error) {
	s.Helper()
	group, ctx := errgroup.WithContext(s.Context())
	group.SetLimit(atOnce)
	for i := range count {
		group.Go(func() error { return do(ctx, i) })
	}
	s.must(group.Wait())
}
