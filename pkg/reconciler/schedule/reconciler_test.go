package schedule

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	cachetesting "k8s.io/client-go/tools/cache/testing"
	"k8s.io/client-go/tools/record"
	clocktesting "k8s.io/utils/clock/testing"
	"knative.dev/pkg/controller"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/client/clientset/versioned/fake"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/events"
	"github.com/firesteel-dev/firesteel/pkg/kube"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base/writecache"
	"github.com/firesteel-dev/firesteel/pkg/schedule"
	"github.com/firesteel-dev/firesteel/pkg/schedule/variant"
)

// due is when the hourly schedule of these tests is due.
var due = time.Date(2026, 3, 1, 13, 0, 0, 0, time.UTC)

// fakePublisher collects requests to the handler.
type fakePublisher struct {
	asked     []string
	published int
}

func (l *fakePublisher) Publish(story events.Snapshot) {
	l.published++
	if story.Request != nil {
		l.asked = append(l.asked, story.Request.Handler+" "+story.Request.Event.ID())
	}
}
func (l *fakePublisher) Progress(types.UID) events.Progress      { return events.Progress{} }
func (l *fakePublisher) Forget(types.UID)                        {}
func (l *fakePublisher) ForgetMatching(func(events.Object) bool) {}
func (l *fakePublisher) HandlerSettingsChanged()                 {}
func (l *fakePublisher) HasSink() bool                           { return true }

// env is a reconciler with one schedule and fakes around it.
type env struct {
	*Reconciler
	client    *fake.Clientset
	publisher *fakePublisher
	clock     *clocktesting.FakePassiveClock
	again     time.Duration
	// lost reports whether another replica leads the schedule, or it is deleted.
	lost bool
}

func newEnv(t *testing.T, s *v1alpha1.ScheduledSparkApplication, runs ...*sparkv1.SparkApplication) *env {
	t.Helper()
	st := &env{client: fake.NewSimpleClientset(s), publisher: &fakePublisher{}, clock: clocktesting.NewFakePassiveClock(due)}
	indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{bySchedule: indexBySchedule(variant.Apache)})
	for _, run := range runs {
		if err := indexer.Add(run); err != nil {
			t.Fatal(err)
		}
	}
	st.Reconciler = &Reconciler{
		kind: variant.Apache, client: st.client, runs: indexer, relay: st.publisher, clock: st.clock,
		owned:        func(types.NamespacedName, types.UID) bool { return !st.lost },
		enqueueAfter: func(_ types.NamespacedName, after time.Duration) { st.again = after },
		written:      writecache.New[variant.Schedule](), published: newPublished(), dueRuns: &base.Burst{},
	}
	return st
}

// reconcile reconciles the schedule as it is, at an instant.
func (st *env) reconcile(t *testing.T, now time.Time) {
	t.Helper()
	st.clock.SetTime(now)
	st.publisher.asked = nil
	s, err := st.client.FiresteelV1alpha1().ScheduledSparkApplications("team-a").Get(t.Context(), "pi", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	st.client.ClearActions()
	ctx := controller.WithEventRecorder(config.ToContext(t.Context(), config.Default()), record.NewFakeRecorder(9))
	if err := st.Reconciler.reconcile(ctx, s); err != nil {
		t.Fatal(err)
	}
}

func (st *env) requests() string {
	var texts []string
	for _, action := range st.client.Actions() {
		texts = append(texts, action.GetVerb()+" "+action.GetResource().Resource)
	}
	return strings.Join(texts, ", ")
}

func hourly() *v1alpha1.ScheduledSparkApplication {
	s := &v1alpha1.ScheduledSparkApplication{}
	s.Namespace, s.Name, s.UID, s.CreationTimestamp = "team-a", "pi", "uid-of-pi", metav1.NewTime(due.Add(-30*time.Minute))
	s.Spec.Schedule = "0 * * * *"
	return s
}

func run(name string, state lifecycle.State, instant time.Time) *sparkv1.SparkApplication {
	app := &sparkv1.SparkApplication{}
	app.Namespace, app.Name, app.UID, app.CreationTimestamp = "team-a", name, types.UID("uid-of-"+name), metav1.NewTime(instant)
	app.Annotations = map[string]string{variant.AnnotationScheduledTime: instant.Format(time.RFC3339)}
	app.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(hourly(), variant.Apache.GroupVersionKind())}
	app.Status.Firesteel = &v1alpha1.Record{Sequence: 1, Transitions: []v1alpha1.Transition{
		{Sequence: 1, State: string(state), Outcome: v1alpha1.OutcomeSucceeded},
	}}
	return app
}

const wrote = "update scheduledsparkapplications"

func TestAScheduleAtRestMakesNoRequest(t *testing.T) {
	st := newEnv(t, hourly())
	st.reconcile(t, due.Add(-20*time.Minute))
	if st.requests() != wrote {
		t.Errorf("at first it asked for %q", st.requests())
	}
	for range 3 {
		st.reconcile(t, due.Add(-5*time.Minute))
		if st.requests() != "" || st.publisher.published > 0 || st.again != 5*time.Minute {
			t.Errorf("at rest it asked for %q, published %d times, and was requeued after %s", st.requests(), st.publisher.published, st.again)
		}
	}
}

// A reconcile may be running when another replica becomes the leader, or when its schedule is deleted. Runs that are
// no longer due must not delay others.
func TestADueRunCountsOnlyInTheBacklogOfTheLeader(t *testing.T) {
	for _, lost := range []bool{false, true} {
		var dueRuns base.Burst
		for n := range 32 {
			s := hourly()
			s.UID = types.UID(fmt.Sprint("uid-", n))
			st := newEnv(t, s)
			st.dueRuns, st.lost = &dueRuns, lost
			st.reconcile(t, due)
		}
		if dueRuns.IsOn() == lost {
			t.Errorf("with 32 schedules that are due and lost: %t, many are due: %t", lost, dueRuns.IsOn())
		}
	}
}

func TestTheHandlerIsAskedFromTheDueInstantUntilItActs(t *testing.T) {
	st := newEnv(t, hourly())
	st.reconcile(t, due.Add(-time.Second))
	question := "schedule uid-of-pi.2026-03-01T13:00:00Z"
	for _, now := range []time.Time{due, due.Add(time.Minute)} {
		st.reconcile(t, now)
		if got := strings.Join(st.publisher.asked, ", "); got != question || st.requests() != "" {
			t.Errorf("at %s the handler was asked %q, and the API server %q", now, got, st.requests())
		}
	}
	s, _ := st.client.FiresteelV1alpha1().ScheduledSparkApplications("team-a").Get(t.Context(), "pi", metav1.GetOptions{})
	started := run("pi-1772370000", lifecycle.Submitted, due)
	schedule.RecordRun(s.Status.Firesteel, v1alpha1.ScheduledRun{
		ScheduledTime: metav1.NewTime(due), StartedAt: metav1.NewMicroTime(due), Name: started.Name, UID: started.UID,
	})
	if err := st.client.Tracker().Update(v1alpha1.SchemeGroupVersion.WithResource("scheduledsparkapplications"), s, "team-a"); err != nil {
		t.Fatal(err)
	}
	if err := st.runs.Add(started); err != nil {
		t.Fatal(err)
	}
	st.reconcile(t, due.Add(2*time.Minute))
	if len(st.publisher.asked) > 0 {
		t.Errorf("once it was started the handler is asked %q", st.publisher.asked)
	}
}

// Two writers for one run would conflict.
func TestOnlyTheHandlerWritesForARun(t *testing.T) {
	st := newEnv(t, hourly())
	st.reconcile(t, due.Add(-time.Second))
	if err := st.runs.Add(run("pi-1772370000", lifecycle.Submitted, due)); err != nil {
		t.Fatal(err)
	}
	st.reconcile(t, due.Add(time.Second))
	if st.requests() != "" || st.again != handlerDelay {
		t.Errorf("before the run is recorded it asked for %q, and looks again in %s", st.requests(), st.again)
	}
	s, _ := st.client.FiresteelV1alpha1().ScheduledSparkApplications("team-a").Get(t.Context(), "pi", metav1.GetOptions{})
	now := due.Add(2 * time.Second)
	schedule.RecordRun(s.Status.Firesteel, v1alpha1.ScheduledRun{
		ScheduledTime: metav1.NewTime(due), StartedAt: metav1.NewMicroTime(now), Name: "pi-1772370000", UID: "uid-of-pi-1772370000",
	})
	policy := schedule.PolicyOf(s, now)
	schedule.Project(s, policy, schedule.Decide(s, policy, now), "", now)
	if err := st.client.Tracker().Update(v1alpha1.SchemeGroupVersion.WithResource("scheduledsparkapplications"), s, "team-a"); err != nil {
		t.Fatal(err)
	}
	st.reconcile(t, now)
	if st.requests() != "" {
		t.Errorf("once the run is recorded it asked for %q", st.requests())
	}
}

// If the handler did not record a run in time, the reconciler records it.
func TestAnUnrecordedRunIsRecorded(t *testing.T) {
	st := newEnv(t, hourly(), run("pi-1772370000", lifecycle.Submitted, due))
	st.reconcile(t, due.Add(time.Second))
	if len(st.publisher.asked) != 1 {
		t.Errorf("the handler is given its time, and was asked %q", st.publisher.asked)
	}
	st.reconcile(t, due.Add(handlerDelay))
	s, _ := st.client.FiresteelV1alpha1().ScheduledSparkApplications("team-a").Get(t.Context(), "pi", metav1.GetOptions{})
	if last := s.Status.Firesteel.Last; last == nil || last.UID != "uid-of-pi-1772370000" || len(st.publisher.asked) > 0 {
		t.Errorf("the record is %+v, and the handler was asked %q", s.Status.Firesteel, st.publisher.asked)
	}
}

// The API server may be so slow that the next instant comes before the handler has recorded the run.
func TestAnUnrecordedRunOfAnEarlierInstantIsNotMissed(t *testing.T) {
	st := newEnv(t, hourly())
	st.reconcile(t, due.Add(-time.Second))
	if err := st.runs.Add(run("pi-1772370000", lifecycle.Submitted, due)); err != nil {
		t.Fatal(err)
	}
	st.reconcile(t, due.Add(time.Hour))
	s, _ := st.client.FiresteelV1alpha1().ScheduledSparkApplications("team-a").Get(t.Context(), "pi", metav1.GetOptions{})
	if last := s.Status.Firesteel.Last; last == nil || last.UID != "uid-of-pi-1772370000" || s.Status.MissedRuns != 0 {
		t.Errorf("%d runs are missed, and the record is %+v", s.Status.MissedRuns, s.Status.Firesteel)
	}
	if question := "schedule uid-of-pi.2026-03-01T14:00:00Z"; strings.Join(st.publisher.asked, ", ") != question {
		t.Errorf("the handler was asked %q, want %q", st.publisher.asked, question)
	}
}

// A user may remove the owner or the label of a run.
func TestARunWithoutItsOwnerOrLabelCounts(t *testing.T) {
	const label = "firesteel.dev/schedule"
	earlier := due.Add(-time.Hour)
	for name, test := range map[string]struct {
		lose   func(run *sparkv1.SparkApplication)
		active bool
		// kept reports whether the run is in the history after its end.
		kept bool
	}{
		"its label":           {func(run *sparkv1.SparkApplication) { run.Labels = nil }, true, true},
		"its owner":           {func(run *sparkv1.SparkApplication) { run.OwnerReferences = nil }, true, true},
		"its owner to others": {func(run *sparkv1.SparkApplication) { run.OwnerReferences[0].UID = "another" }, true, false},
		"both":                {func(run *sparkv1.SparkApplication) { run.OwnerReferences, run.Labels = nil, nil }, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := hourly()
			s.CreationTimestamp = metav1.NewTime(due.Add(-2 * time.Hour))
			s.Spec.ConcurrencyPolicy = v1alpha1.ConcurrencyForbid
			running := run(schedule.RunName("pi", earlier), lifecycle.RunningHealthy, earlier)
			running.Labels = map[string]string{label: "pi"}
			st := newEnv(t, s, running)
			st.reconcile(t, due.Add(-time.Minute))
			lost := running.DeepCopy()
			test.lose(lost)
			count := func(object *sparkv1.SparkApplication) *v1alpha1.ScheduleStatus {
				t.Helper()
				if err := st.runs.Update(object); err != nil {
					t.Fatal(err)
				}
				st.reconcile(t, due.Add(-time.Minute))
				s, err := st.client.FiresteelV1alpha1().ScheduledSparkApplications("team-a").Get(t.Context(), "pi", metav1.GetOptions{})
				if err != nil {
					t.Fatal(err)
				}
				return &s.Status
			}
			if active := count(lost).Firesteel.Active; (len(active) == 1) != test.active {
				t.Errorf("those that run are %v", active)
			}
			ended := run(running.Name, lifecycle.ResourceReleased, earlier)
			ended.Labels = running.Labels
			test.lose(ended)
			for range 2 {
				status := count(ended)
				if len(status.Firesteel.Active) > 0 {
					t.Errorf("those that run are %v", status.Firesteel.Active)
				}
				if kept := len(status.PastSuccessfulRunNames) == 1; test.kept && !kept {
					t.Errorf("the history is %v", status.PastSuccessfulRunNames)
				}
			}
		})
	}
}

// Runs of an earlier schedule may have been orphaned, and any user may label an application.
func TestAnApplicationWithOnlyTheLabelIsNoRun(t *testing.T) {
	for name, change := range map[string]func(app *sparkv1.SparkApplication){
		"without the name of a run":                 func(app *sparkv1.SparkApplication) { app.Name = "other" },
		"without an instant":                        func(app *sparkv1.SparkApplication) { app.Annotations = nil },
		"older than the schedule":                   func(app *sparkv1.SparkApplication) { app.CreationTimestamp = metav1.NewTime(due.Add(-time.Hour)) },
		"of another controller":                     func(app *sparkv1.SparkApplication) { app.OwnerReferences[0].Kind = "Workflow" },
		"for an instant of the future, the clock's": func(*sparkv1.SparkApplication) {},
	} {
		t.Run(name, func(t *testing.T) {
			instant := due.Add(1000 * time.Hour)
			app := run(schedule.RunName("pi", instant), lifecycle.ResourceReleased, instant)
			app.Labels, app.CreationTimestamp = map[string]string{"firesteel.dev/schedule": "pi"}, metav1.NewTime(due.Add(-time.Minute))
			owners := app.OwnerReferences
			change(app)
			if owners[0].Kind != "Workflow" {
				app.OwnerReferences = nil
			}
			st := newEnv(t, hourly(), app)
			st.reconcile(t, due)
			s, err := st.client.FiresteelV1alpha1().ScheduledSparkApplications("team-a").Get(t.Context(), "pi", metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			counted := len(s.Status.PastSuccessfulRunNames) > 0
			if forClock := s.Status.Firesteel.SettledUntil.After(due); forClock || counted != strings.Contains(name, "the clock's") {
				t.Errorf("settled until %s; the history is %v", s.Status.Firesteel.SettledUntil, s.Status.PastSuccessfulRunNames)
			}
		})
	}
}

func TestTheDeletionOfSurplusRunsIsRequested(t *testing.T) {
	st := newEnv(t, hourly(),
		run("pi-1", lifecycle.ResourceReleased, due.Add(-2*time.Hour)), run("pi-2", lifecycle.ResourceReleased, due.Add(-time.Hour)))
	st.reconcile(t, due.Add(-time.Minute))
	s, _ := st.client.FiresteelV1alpha1().ScheduledSparkApplications("team-a").Get(t.Context(), "pi", metav1.GetOptions{})
	if surplus := s.Status.Firesteel.Surplus; len(surplus) != 1 || surplus[0].Name != "pi-1" || len(st.publisher.asked) != 1 {
		t.Errorf("of %+v the handler was asked %q", surplus, st.publisher.asked)
	}
}

func TestADeletedRunWaitsForItsSchedule(t *testing.T) {
	ended := run("pi-1772370000", lifecycle.ResourceReleased, due)
	for name, test := range map[string]struct {
		change func(*v1alpha1.ScheduledSparkApplication)
		awaits bool
	}{
		"the schedule has not recorded it":  {func(*v1alpha1.ScheduledSparkApplication) {}, true},
		"the schedule has recorded it":      {func(s *v1alpha1.ScheduledSparkApplication) { schedule.Settle(s.Status.Firesteel, due) }, false},
		"the schedule is being deleted":     {func(s *v1alpha1.ScheduledSparkApplication) { s.DeletionTimestamp = &metav1.Time{Time: due} }, false},
		"the schedule was replaced":         {func(s *v1alpha1.ScheduledSparkApplication) { s.UID = "uid-of-another" }, false},
		"the schedule was never reconciled": {func(s *v1alpha1.ScheduledSparkApplication) { s.Status.Firesteel = nil }, false},
		"the schedule is gone":              {func(s *v1alpha1.ScheduledSparkApplication) { s.Name = "another" }, false},
	} {
		s := hourly()
		s.Status.Firesteel = &v1alpha1.ScheduleRecord{SettledUntil: metav1.NewTime(due.Add(-time.Hour))}
		test.change(s)
		schedules := informerOf(cachetesting.NewFakeControllerSource())
		if err := schedules.GetStore().Add(s); err != nil {
			t.Fatal(err)
		}
		awaits := KeepRuns(t.Context(), variant.Apache, schedules, func(types.NamespacedName) {})
		if got := awaits(ended); got != test.awaits {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// A waiting run is enqueued as soon as its schedule has recorded it or is deleted.
func TestAWaitingRunIsEnqueuedWhenItsScheduleChanges(t *testing.T) {
	for name, change := range map[string]func(*cachetesting.FakeControllerSource, *v1alpha1.ScheduledSparkApplication){
		"recorded": func(server *cachetesting.FakeControllerSource, s *v1alpha1.ScheduledSparkApplication) {
			schedule.Settle(s.Status.Firesteel, due)
			server.Modify(s)
		},
		"gone": func(server *cachetesting.FakeControllerSource, s *v1alpha1.ScheduledSparkApplication) {
			server.Delete(s)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := hourly()
			s.Status.Firesteel = &v1alpha1.ScheduleRecord{SettledUntil: metav1.NewTime(due.Add(-time.Hour))}
			server := cachetesting.NewFakeControllerSource()
			defer server.Shutdown()
			server.Add(s)
			informer := informerOf(server)
			looked := make(chan types.NamespacedName, 9)
			awaits := KeepRuns(t.Context(), variant.Apache, informer, func(run types.NamespacedName) { looked <- run })
			go informer.RunWithContext(t.Context())
			cache.WaitForCacheSync(t.Context().Done(), informer.HasSynced)
			waiting := run("pi-1772370000", lifecycle.ResourceReleased, due)
			if !awaits(waiting) {
				t.Fatal("it does not wait")
			}
			change(server, s.DeepCopy())
			if run := <-looked; run != kube.KeyOf(waiting) {
				t.Errorf("%s is enqueued", run)
			}
			if awaits(waiting) {
				t.Error("it still waits")
			}
		})
	}
}

func informerOf(server *cachetesting.FakeControllerSource) cache.SharedIndexInformer {
	return cache.NewSharedIndexInformer(server, &v1alpha1.ScheduledSparkApplication{}, 0, cache.Indexers{})
}
