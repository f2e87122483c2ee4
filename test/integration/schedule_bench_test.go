package integration

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	firesteelv1alpha1 "github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
)

const (
	idleSchedules = 10_000
	dueAtOnce     = 1_000
	// restTime is how long schedules at rest are watched.
	restTime = 20 * time.Second
)

// What ten thousand schedules cost while nothing is due, and how long it takes until all runs exist of a thousand that
// are due in the same second.
func BenchmarkSchedules(b *testing.B) {
	s := newScene(b)
	s.ownController(controller{})
	for b.Loop() {
		s.populate("idle", idleSchedules, hourly())
		before := len(s.requestsAtRest())
		waitUntil(b, time.Now().Add(restTime))
		b.ReportMetric(float64(len(s.requests())-before), "requests-at-rest")

		due := time.Now().UTC().Add(90 * time.Second).Truncate(time.Minute)
		s.populate("due", dueAtOnce, fmt.Sprintf("%d %d * * *", due.Minute(), due.Hour()))
		if time.Now().After(due) {
			b.Fatalf("it took until after %s to create the schedules", due)
		}
		s.untilAdded(dueAtOnce)
		b.ReportMetric(time.Since(due).Seconds(), "s-until-a-thousand-runs-exist")
	}
}

// untilAdded waits for a number of runs. A watch costs less than what is measured.
func (s *scene) untilAdded(count int) {
	s.Helper()
	w, err := s.spark.SparkV1().SparkApplications(s.ns).Watch(s.Context(), metav1.ListOptions{})
	s.must(err)
	defer w.Stop()
	for event := range w.ResultChan() {
		if event.Type == watch.Added {
			count--
		}
		if count == 0 {
			return
		}
	}
	s.Fatalf("%d runs did not come while they were watched", count)
}

// populate makes schedules, whose runs are held.
func (s *scene) populate(name string, count int, text string) {
	s.Helper()
	group, ctx := errgroup.WithContext(s.Context())
	group.SetLimit(32)
	for i := range count {
		group.Go(func() error {
			schedule := &firesteelv1alpha1.ScheduledSparkApplication{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-%d", name, i)}}
			schedule.Spec.Schedule = text
			schedule.Spec.Template.Spec.Raw = json.RawMessage(`{"suspend": true, "mainClass": "Main", "jars": "local:///main.jar",
				"runtimeVersions": {"sparkVersion": "4.1.1"}}`)
			_, err := s.spark.FiresteelV1alpha1().ScheduledSparkApplications(s.ns).Create(ctx, schedule, metav1.CreateOptions{})
			return err
		})
	}
	s.must(group.Wait())
}
