package schedule_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/client/clientset/versioned/fake"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/events"
	handler "github.com/firesteel-dev/firesteel/pkg/handlers/schedule"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/schedule"
	"github.com/firesteel-dev/firesteel/pkg/schedule/variant"
	"github.com/firesteel-dev/firesteel/pkg/schedules"
)

// due is the instant at which the schedule of these tests is due. All earlier instants are settled.
var due = time.Date(2026, 3, 1, 13, 0, 0, 0, time.UTC)

type builder struct {
	s v1alpha1.ScheduledSparkApplication
}

func hourly() *builder {
	b := &builder{}
	b.s.Namespace, b.s.Name, b.s.UID, b.s.ResourceVersion = "team-a", "pi", "uid-of-pi", "17"
	b.s.Labels = map[string]string{"team": "a"}
	b.s.Spec.Schedule = "0 * * * *"
	b.s.Spec.Template.Spec.Raw = []byte(`{"mainClass": "Main"}`)
	b.s.Status.Firesteel = &v1alpha1.ScheduleRecord{
		Clock: "0 * * * * UTC", Since: metav1.NewTime(due.Add(-time.Hour)), SettledUntil: metav1.NewTime(due.Add(-time.Hour)),
	}
	return b
}

func (b *builder) With(change func(*v1alpha1.ScheduledSparkApplication)) *builder {
	change(&b.s)
	return b
}

// Running adds earlier runs to the record as active ones.
func (b *builder) Running(policy v1alpha1.ConcurrencyPolicy, runs ...string) *builder {
	b.s.Spec.ConcurrencyPolicy = policy
	for _, name := range runs {
		b.s.Status.Firesteel.Active = append(b.s.Status.Firesteel.Active, v1alpha1.RunReference{Name: name, UID: types.UID("uid-of-" + name)})
	}
	return b
}

func (b *builder) Obj() *v1alpha1.ScheduledSparkApplication { return b.s.DeepCopy() }

// run returns an application in a lifecycle state, owned by the schedule.
func run(name string, state lifecycle.State) *sparkv1.SparkApplication {
	app := &sparkv1.SparkApplication{}
	app.Namespace, app.Name, app.UID = "team-a", name, types.UID("uid-of-"+name)
	app.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(hourly().Obj(), variant.Apache.GroupVersionKind())}
	app.Status.Firesteel = &v1alpha1.Record{Sequence: 1, Transitions: []v1alpha1.Transition{{Sequence: 1, State: string(state)}}}
	return app
}

// server is a fake API server with a schedule and runs. Both of its clients have the applications.
type server struct {
	typed   *fake.Clientset
	dynamic *dynamicfake.FakeDynamicClient
	now     time.Time
}

func newServer(t *testing.T, b *builder, runs ...*sparkv1.SparkApplication) *server {
	t.Helper()
	objects, loose := []runtime.Object{b.Obj()}, []runtime.Object{}
	for _, run := range runs {
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(run)
		if err != nil {
			t.Fatal(err)
		}
		u := &unstructured.Unstructured{Object: content}
		u.SetGroupVersionKind(variant.Apache.Runs)
		objects, loose = append(objects, run), append(loose, u)
	}
	s := &server{typed: fake.NewSimpleClientset(objects...), now: due}
	s.dynamic = dynamicfake.NewSimpleDynamicClient(runtime.NewScheme(), loose...)
	s.dynamic.PrependReactor("create", "sparkapplications", func(action clienttesting.Action) (bool, runtime.Object, error) {
		made := action.(clienttesting.CreateAction).GetObject().(*unstructured.Unstructured)
		if made.GetUID() == "" {
			made.SetUID("uid-of-" + types.UID(made.GetName()))
		}
		return false, nil, nil
	})
	return s
}

// conflictsFirst makes the first status write of a schedule conflict: another process has stored it like this.
func (s *server) conflictsFirst(t *testing.T, stored *v1alpha1.ScheduledSparkApplication) {
	t.Helper()
	tries := 0
	s.typed.PrependReactor("update", "scheduledsparkapplications", func(clienttesting.Action) (bool, runtime.Object, error) {
		if tries++; tries > 1 {
			return false, nil, nil
		}
		resource := v1alpha1.SchemeGroupVersion.WithResource("scheduledsparkapplications")
		if err := s.typed.Tracker().Update(resource, stored, stored.Namespace); err != nil {
			t.Error(err)
		}
		return true, nil, apierrors.NewConflict(resource.GroupResource(), stored.Name, errors.New("changed"))
	})
}

// handle calls the handler with an event of a schedule.
func (s *server) handle(t *testing.T, object events.Object) error {
	t.Helper()
	event, err := events.NewDueEvent(object, due)
	if err != nil {
		t.Fatal(err)
	}
	return handler.NewHandler(s.typed, s.dynamic, config.Default, nil, clocktesting.NewFakePassiveClock(s.now))(context.Background(), event)
}

// writes returns the writes to the API server, in order.
func (s *server) writes() string {
	var texts []string
	for _, action := range append(s.dynamic.Actions(), s.typed.Actions()...) {
		if action.GetVerb() == "get" {
			continue
		}
		text := action.GetVerb() + " " + action.GetResource().Resource
		if named, ok := action.(clienttesting.DeleteActionImpl); ok {
			text += " " + named.GetName()
			if conditions := named.DeleteOptions.Preconditions; conditions == nil || conditions.UID == nil || *conditions.UID == "" {
				text += " whatever its uid"
			}
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, ", ")
}

func (s *server) record(t *testing.T) *v1alpha1.ScheduleRecord {
	t.Helper()
	now, err := s.typed.FiresteelV1alpha1().ScheduledSparkApplications("team-a").Get(t.Context(), "pi", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return now.Status.Firesteel
}

var pi = schedules.Object(variant.Apache, hourly().Obj())

const (
	started = "create sparkapplications, update scheduledsparkapplications"
	noted   = "update scheduledsparkapplications"
	// fenced is a run that excludes concurrent runs.
	fenced = started + ", " + noted
)

func TestDueRunsAreStartedHeldOrMissed(t *testing.T) {
	name := schedule.RunName("pi", due)
	for what, test := range map[string]struct {
		schedule *builder
		runs     []*sparkv1.SparkApplication
		now      time.Time
		writes   string
	}{
		"a run that is due is started":               {hourly(), nil, due, started},
		"a run that is late is started":              {hourly(), nil, due.Add(59 * time.Minute), started},
		"nothing before its time":                    {hourly(), nil, due.Add(-1), ""},
		"nothing while suspended":                    {hourly().With(suspended), nil, due, ""},
		"nothing after an edit that is not recorded": {hourly().With(edited), nil, due, ""},
		"nothing without record":                     {hourly().With(func(s *v1alpha1.ScheduledSparkApplication) { s.Status.Firesteel = nil }), nil, due, ""},
		"nothing if it is being deleted":             {hourly().With(deleting), nil, due, ""},
		"nothing if it cannot be decoded":            {hourly().With(func(s *v1alpha1.ScheduledSparkApplication) { s.Undecodable = "no" }), nil, due, ""},
		"nothing twice":                              {hourly().With(settled), nil, due, ""},
		"nothing beyond its deadline":                {hourly().With(deadline), nil, due.Add(2 * time.Minute), ""},
		"a run that exists is recorded":              {hourly(), []*sparkv1.SparkApplication{run(name, lifecycle.Submitted)}, due, started},
		"beside an active one if that is allowed":    {hourly().Running("Allow", "pi-1"), []*sparkv1.SparkApplication{run("pi-1", lifecycle.RunningHealthy)}, due, started},
		"after an active one if that is forbidden":   {hourly().Running("Forbid", "pi-1"), []*sparkv1.SparkApplication{run("pi-1", lifecycle.RunningHealthy)}, due, noted},
		"after one whose driver is being released":   {hourly().Running("Forbid", "pi-1"), []*sparkv1.SparkApplication{run("pi-1", lifecycle.Succeeded)}, due, noted},
		"at once after one that has ended":           {hourly().Running("Forbid", "pi-1"), []*sparkv1.SparkApplication{run("pi-1", lifecycle.ResourceReleased)}, due, fenced},
		"at once after a deleted one":                {hourly().Running("Forbid", "pi-1"), nil, due, fenced},
		"it does not wait for itself":                {hourly().Running("Forbid", name), []*sparkv1.SparkApplication{run(name, lifecycle.Submitted)}, due, fenced},
		"in place of a running one":                  {hourly().Running("Replace", "pi-1"), []*sparkv1.SparkApplication{run("pi-1", lifecycle.RunningHealthy)}, due, "delete sparkapplications pi-1, " + noted},
		"in place of one that has ended":             {hourly().Running("Replace", "pi-1"), []*sparkv1.SparkApplication{run("pi-1", lifecycle.ResourceReleased)}, due, fenced},
		"what is kept no longer is deleted":          {hourly().With(settled).With(surplus("pi-1")), []*sparkv1.SparkApplication{run("pi-1", lifecycle.ResourceReleased)}, due, "delete sparkapplications pi-1"},
		"but not if it is active again":              {hourly().With(settled).With(surplus("pi-1")), []*sparkv1.SparkApplication{run("pi-1", lifecycle.RunningHealthy)}, due, ""},
		"nor if it is deleted":                       {hourly().With(settled).With(surplus("pi-1")), nil, due, ""},
	} {
		t.Run(what, func(t *testing.T) {
			s := newServer(t, test.schedule, test.runs...)
			s.now = test.now
			if err := s.handle(t, pi); err != nil {
				t.Fatal(err)
			}
			if got := s.writes(); got != test.writes {
				t.Errorf("the writes are %q, want %q", got, test.writes)
			}
		})
	}
}

func suspended(s *v1alpha1.ScheduledSparkApplication) { yes := true; s.Spec.Suspend = &yes }
func edited(s *v1alpha1.ScheduledSparkApplication)    { s.Spec.Schedule = "* * * * *" }
func deadline(s *v1alpha1.ScheduledSparkApplication) {
	minute := int64(60)
	s.Spec.StartingDeadlineSeconds = &minute
}

func settled(s *v1alpha1.ScheduledSparkApplication) {
	s.Status.Firesteel.SettledUntil = metav1.NewTime(due)
}

func deleting(s *v1alpha1.ScheduledSparkApplication) {
	s.DeletionTimestamp, s.Finalizers = &metav1.Time{Time: due}, []string{"orphan"}
}

func surplus(names ...string) func(*v1alpha1.ScheduledSparkApplication) {
	return func(s *v1alpha1.ScheduledSparkApplication) {
		for _, name := range names {
			s.Status.Firesteel.Surplus = append(s.Status.Firesteel.Surplus, v1alpha1.RunReference{Name: name, UID: types.UID("uid-of-" + name)})
		}
	}
}

func TestRunIsMadeFromTheTemplate(t *testing.T) {
	s := newServer(t, hourly())
	if err := s.handle(t, pi); err != nil {
		t.Fatal(err)
	}
	made, err := s.dynamic.Resource(variant.Apache.RunsResource()).Namespace("team-a").Get(t.Context(), schedule.RunName("pi", due), metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"apiVersion": "spark.apache.org/v1", "kind": "SparkApplication",
		"metadata": map[string]any{
			"name": "pi-1772370000", "namespace": "team-a", "uid": "uid-of-pi-1772370000",
			"labels":      map[string]any{"team": "a", "firesteel.dev/schedule": "pi"},
			"annotations": map[string]any{"firesteel.dev/scheduled-time": "2026-03-01T13:00:00Z"},
			"finalizers":  []any{"sparkapplications.spark.apache.org/finalizer"},
			"ownerReferences": []any{map[string]any{
				"apiVersion": "firesteel.dev/v1alpha1", "kind": "ScheduledSparkApplication", "name": "pi", "uid": "uid-of-pi",
				"controller": true, "blockOwnerDeletion": true,
			}},
		},
		"spec": map[string]any{"mainClass": "Main"},
	}
	if diff := cmp.Diff(want, made.Object); diff != "" {
		t.Errorf("run (-want +got):\n%s", diff)
	}
	if last := s.record(t).Last; last.UID != made.GetUID() || !last.ScheduledTime.Time.Equal(due) {
		t.Errorf("recorded is %+v", last)
	}
}

func TestRunHeldByAnotherPolicyKeepsUnknownFields(t *testing.T) {
	s := newServer(t, hourly().Running("Forbid", "pi-1").With(func(s *v1alpha1.ScheduledSparkApplication) {
		s.Status.Firesteel.Held = &v1alpha1.HeldRun{ScheduledTime: metav1.NewTime(due), Policy: "Replace", Unknown: `{"newer":1}`}
	}), run("pi-1", lifecycle.RunningHealthy))
	if err := s.handle(t, pi); err != nil {
		t.Fatal(err)
	}
	if held := s.record(t).Held; held == nil || held.Policy != "Forbid" || held.Unknown != `{"newer":1}` {
		t.Errorf("held is %+v", held)
	}
}

// If it is unknown whether the API server created a run, that run is handled before a later one that is due.
func TestRunIsNotStartedBesideOneThatMayExist(t *testing.T) {
	for _, policy := range []v1alpha1.ConcurrencyPolicy{v1alpha1.ConcurrencyForbid, v1alpha1.ConcurrencyReplace} {
		t.Run(string(policy), func(t *testing.T) {
			s := newServer(t, hourly().Running(policy).With(func(s *v1alpha1.ScheduledSparkApplication) {
				s.Spec.Schedule, s.Status.Firesteel.Clock = "@every 5s", "@every 5s UTC"
				s.Status.Firesteel.SettledUntil = metav1.NewTime(due.Add(-time.Second))
			}))
			var created []string
			s.dynamic.PrependReactor("create", "sparkapplications", func(action clienttesting.Action) (bool, runtime.Object, error) {
				created = append(created, action.(clienttesting.CreateAction).GetObject().(*unstructured.Unstructured).GetName())
				return len(created) == 1, nil, context.DeadlineExceeded
			})
			if err := s.handle(t, pi); err == nil {
				t.Error("no error is returned, so the event is not sent again")
			}
			s.now = due.Add(6 * time.Second)
			if err := s.handle(t, pi); err != nil {
				t.Fatal(err)
			}
			if first := schedule.RunName("pi", due); !slices.Equal(created, []string{first, first}) {
				t.Errorf("created %v, want %s both times", created, first)
			}
		})
	}
}

// A run that was begun long ago is not created, since another process may create it at the same time.
func TestRunBegunLongAgoIsNotCreated(t *testing.T) {
	begun := func(s *v1alpha1.ScheduledSparkApplication) { schedule.RecordBegun(s.Status.Firesteel, due, due) }
	for after, writes := range map[time.Duration]string{
		20 * time.Second: started, 21 * time.Second: "", schedule.BegunTimeout: fenced,
	} {
		s := newServer(t, hourly().Running("Forbid").With(begun))
		s.now = due.Add(after)
		if err := s.handle(t, pi); (err == nil) != (writes != "") || events.IsPermanent(err) || s.writes() != writes {
			t.Errorf("after %s: the writes are %q, and the error is %v", after, s.writes(), err)
		}
	}
}

func TestOtherObjectsAreIgnored(t *testing.T) {
	reborn, elsewhere, application := pi, pi, pi
	reborn.UID, elsewhere.Name = "uid-of-another", "another"
	application.Resource, application.Kind = "sparkapplications", "SparkApplication"
	for name, about := range map[string]events.Object{"created again": reborn, "deleted": elsewhere, "of another kind": application} {
		s := newServer(t, hourly())
		if err := s.handle(t, about); err != nil || s.writes() != "" {
			t.Errorf("%s: the writes are %q, and the error is %v", name, s.writes(), err)
		}
	}
}

func TestDuplicatesStartNothing(t *testing.T) {
	s := newServer(t, hourly())
	for range 3 {
		if err := s.handle(t, pi); err != nil {
			t.Fatal(err)
		}
	}
	if s.writes() != started {
		t.Errorf("the writes are %q, want %q", s.writes(), started)
	}
}

// A final refusal is recorded, and a transient error is returned.
func TestErrorsOfTheAPIServer(t *testing.T) {
	resource := variant.Apache.RunsResource().GroupResource()
	for name, test := range map[string]struct {
		err     error
		refused bool
	}{
		"a quota":                      {apierrors.NewForbidden(resource, "pi", errors.New("exceeded quota")), true},
		"a new kind of owner":          {apierrors.NewForbidden(resource, "pi", errors.New("cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion firesteel.dev/v1alpha1")), false},
		"an invalid field":             {apierrors.NewInvalid(variant.Apache.Runs.GroupKind(), "pi", nil), true},
		"a server that is busy":        {apierrors.NewTooManyRequests("later", 1), false},
		"a server that is unreachable": {errors.New("connection refused"), false},
		"a broken server":              {apierrors.NewInternalError(errors.New("etcd")), false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, hourly())
			s.dynamic.PrependReactor("create", "sparkapplications", func(clienttesting.Action) (bool, runtime.Object, error) {
				return true, nil, test.err
			})
			err := s.handle(t, pi)
			record := s.record(t)
			if test.refused != (err == nil) || test.refused != (record.Last != nil) || events.IsPermanent(err) {
				t.Fatalf("the error is %v, and the record %+v", err, record)
			}
			if test.refused && (record.Missed != 1 || record.Last.Reason != schedule.ReasonRefused || !schedule.Settled(record, due)) {
				t.Errorf("the record is %+v", record)
			}
		})
	}
}

func TestRunThatCannotBeDeletedHoldsTheNextOne(t *testing.T) {
	s := newServer(t, hourly().Running(v1alpha1.ConcurrencyReplace, "pi-1"), run("pi-1", lifecycle.RunningHealthy))
	s.dynamic.PrependReactor("delete", "sparkapplications", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, errors.New("connection refused")
	})
	if err := s.handle(t, pi); err == nil || events.IsPermanent(err) || strings.Contains(s.writes(), "create") {
		t.Errorf("the error is %v, and the writes are %s", err, s.writes())
	}
}

func TestApplicationThatHasTheNameOfAnEarlierRunHoldsNoRun(t *testing.T) {
	another := run("pi-1", lifecycle.RunningHealthy)
	another.UID = "uid-of-another"
	s := newServer(t, hourly().Running(v1alpha1.ConcurrencyForbid, "pi-1"), another)
	if err := s.handle(t, pi); err != nil || !strings.Contains(s.writes(), "create sparkapplications") {
		t.Errorf("the error is %v, and the writes are %s", err, s.writes())
	}
}

// The API server checks quotas before names. So it refuses a run that exists already, after the response of its create was lost.
func TestRunThatExistsAlreadyIsRecordedAfterARefusal(t *testing.T) {
	made := run(schedule.RunName("pi", due), lifecycle.Submitted)
	made.CreationTimestamp = metav1.NewTime(due)
	made.Annotations = map[string]string{variant.AnnotationScheduledTime: due.Format(time.RFC3339)}
	s := newServer(t, hourly(), made)
	s.dynamic.PrependReactor("create", "sparkapplications", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(variant.Apache.RunsResource().GroupResource(), "pi", errors.New("exceeded quota"))
	})
	if err := s.handle(t, pi); err != nil {
		t.Fatal(err)
	}
	if record := s.record(t); record.Missed != 0 || record.Last == nil || record.Last.UID == "" {
		t.Errorf("the record is %+v", record)
	}
}

func TestRunNameOfAnotherOwnerIsAFailure(t *testing.T) {
	foreign := run(schedule.RunName("pi", due), lifecycle.RunningHealthy)
	foreign.OwnerReferences = nil
	s := newServer(t, hourly(), foreign)
	if err := s.handle(t, pi); err != nil {
		t.Fatal(err)
	}
	if record := s.record(t); record.Last.Reason != schedule.ReasonNameTaken || record.Missed != 1 {
		t.Errorf("the record is %+v", record)
	}
}

// While the API server creates the run, the next instant may come. Then the controller counts the first one as missed.
func TestRunThatCountsAsMissedIsRecordedAllTheSame(t *testing.T) {
	s := newServer(t, hourly())
	passed := hourly().With(settled).Obj()
	passed.Status.Firesteel.Missed = 3
	s.conflictsFirst(t, passed)
	if err := s.handle(t, pi); err != nil {
		t.Fatal(err)
	}
	record := s.record(t)
	if last := record.Last; last == nil || last.UID != "uid-of-pi-1772370000" || record.Missed != 2 || len(record.Active) != 1 {
		t.Errorf("%d runs are missed, want 2, and the record is %+v", record.Missed, record)
	}
}

// Another handler may have been faster, and its run may be deleted already. Then two runs exist for a moment.
func TestRunThatIsSupersededIsDeleted(t *testing.T) {
	s := newServer(t, hourly())
	theirs := hourly().Obj()
	schedule.RecordRun(theirs.Status.Firesteel, v1alpha1.ScheduledRun{
		ScheduledTime: metav1.NewTime(due), Name: schedule.RunName("pi", due), UID: "uid-of-theirs",
	})
	s.conflictsFirst(t, theirs)
	if err := s.handle(t, pi); err != nil {
		t.Fatal(err)
	}
	if want := "create sparkapplications, delete sparkapplications pi-1772370000, update scheduledsparkapplications"; s.writes() != want {
		t.Errorf("the writes are %q, want %q", s.writes(), want)
	}
}
