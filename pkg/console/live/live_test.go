package live

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/overview"
)

func quantity(text string) resource.Quantity { return resource.MustParse(text) }

func (e *env) page(see Visible, parameters string) Page {
	e.Helper()
	values, err := url.ParseQuery(parameters)
	if err != nil {
		e.Fatal(err)
	}
	query, err := ParseQuery(values)
	if err != nil {
		e.Fatal(err)
	}
	again, err := ParseQuery(query.Values())
	if err != nil || again.Values().Encode() != query.Values().Encode() {
		e.Errorf("%s: the query is %s, read again %s (%v)", parameters, query.Values().Encode(), again.Values().Encode(), err)
	}
	return e.Page(see, query)
}

func TestRowSaysWhereAnApplicationIsAndWhy(t *testing.T) {
	e := newEnv(t)
	failed := app{
		namespace: "a", name: "etl", age: time.Hour, states: failedStates, failure: "The driver exited with code 1.", acknowledged: 7,
		labels: map[string]string{"team": "reports"}, annotations: map[string]any{"user": "ann"},
	}
	e.set(failed)
	row, ok := e.Row(failed.ref())
	if !ok {
		t.Fatal("there is no row")
	}
	if row.Outcome != overview.Failed || !row.Over || row.Team != "reports" || row.User != "ann" || row.Cause == "" || row.Sentence == "" || row.ApplicationID != "spark-etl" {
		t.Errorf("the row is %+v", row)
	}
	if !row.Started.Equal(now.Add(-time.Hour+2*time.Second)) || !row.Ended.Equal(now.Add(-time.Hour+5*time.Second)) || row.Duration(now) != 3*time.Second {
		t.Errorf("it started at %s, ended at %s, took %s", row.Started, row.Ended, row.Duration(now))
	}
	if row.Unacknowledged != 0 || row.Undelivered(now) != 0 {
		t.Errorf("%d events are not acknowledged", row.Unacknowledged)
	}
	running := app{namespace: "a", name: "live", age: time.Minute, states: runningStates, acknowledged: 3, kubeflow: true}
	e.set(running)
	row, _ = e.Row(running.ref())
	if row.Outcome != overview.Running || row.Executors.Asked != 3 || row.Unacknowledged != 2 || row.Undelivered(now.Add(time.Minute)) != 2 || row.Sentence != "" {
		t.Errorf("the row is %+v", row)
	}
}

func TestUsageHasItsCost(t *testing.T) {
	e := newEnv(t)
	a := app{namespace: "a", name: "etl", age: time.Hour, states: failedStates, failure: "The driver exited with code 1."}
	used := &v1alpha1.Usage{
		Driver:    &v1alpha1.PodUsage{CoreMilliseconds: 3_600_000, MebibyteSeconds: 3600 * 1024},
		Executors: &v1alpha1.PodUsage{CoreMilliseconds: 7_200_000, MebibyteSeconds: 2 * 3600 * 1024, GPUSeconds: 1800},
	}
	prices := Prices{CoreHour: 0.04, GiBHour: 0.005, GPUHour: 1.2, Currency: "EUR"}
	if got, want := *usageOf(used, prices).Cost, (Cost{Cores: 0.12, Memory: 0.015, GPUs: 0.6, Total: 0.735, Currency: "EUR"}); got != want {
		t.Errorf("the cost is %+v, want %+v", got, want)
	}
	for _, none := range []Prices{{}, {Currency: "EUR"}} {
		if got := usageOf(used, none).Cost; got != nil {
			t.Errorf("the prices %+v make %+v", none, got)
		}
	}
	a.usage = map[string]any{"total": map[string]any{"driver": map[string]any{"seconds": int64(3600), "coreMilliseconds": int64(3_600_000)}}}
	e.set(a)
	if row, _ := e.Row(a.ref()); row.Usage.Cost != nil {
		t.Errorf("without prices the cost is %+v", row.Usage.Cost)
	}
	e.readAgain(Settings{Prices: prices}) // an admin set them
	if row, _ := e.Row(a.ref()); row.Usage.Cost == nil || row.Usage.Cost.Total != 0.04 {
		t.Errorf("after prices were set, the usage is %+v", row.Usage)
	}
}

func TestPodsAreCountedInTheRow(t *testing.T) {
	e := newEnv(t)
	a := app{namespace: "a", name: "etl", age: time.Hour, states: runningStates}
	for i, phase := range []corev1.PodPhase{corev1.PodRunning, corev1.PodPending, corev1.PodFailed} {
		e.pod(newPodOf(a, "executor", fmt.Sprint(i+1), phase))
	}
	e.set(a) // the Pods may be seen first
	e.pod(newPodOf(a, "driver", "", corev1.PodRunning))
	other := a
	other.namespace = "b"
	e.pod(newPodOf(other, "executor", "9", corev1.PodRunning))
	row, _ := e.Row(a.ref())
	if want := (Executors{Asked: 3, Most: 3, Pending: 1, Running: 1, Lost: 1}); row.Executors != want {
		t.Errorf("executors are %+v, want %+v", row.Executors, want)
	}
	if want := (Resources{MilliCPU: 3000, Mebibytes: 3072}); row.Requested != want {
		t.Errorf("requested is %+v, want %+v", row.Requested, want)
	}
	e.deletePod(types.NamespacedName{Namespace: "a", Name: "etl-executor3"}, "etl-executor3")
	if row, _ = e.Row(a.ref()); row.Executors.Lost != 1 {
		t.Errorf("a lost executor is forgotten with its Pod: %+v", row.Executors)
	}
	d, _ := e.Details(a.ref(), true)
	last := d.Executors[len(d.Executors)-1]
	if !last.At.Equal(now) || last.Pending != 1 || last.Running != 1 || last.Lost != 1 || last.Asked != 3 {
		t.Errorf("the curve ends with %+v of %d", last, len(d.Executors))
	}
	if len(d.Pods) != 3 || d.Pods[0].Role != "driver" || d.PodsHidden {
		t.Errorf("Pods are %+v", d.Pods)
	}
	if d, _ = e.Details(a.ref(), false); len(d.Pods) != 0 || !d.PodsHidden {
		t.Errorf("without the right, Pods are %+v", d.Pods)
	}
}

func TestDetailsHaveAttemptsTransitionsAndDelivery(t *testing.T) {
	e := newEnv(t)
	a := app{namespace: "a", name: "etl", age: time.Hour, states: failedStates, failure: "The driver exited with code 1.", acknowledged: 5}
	e.set(a)
	d, ok := e.Details(a.ref(), true)
	if !ok || len(d.Attempts) != 1 || len(d.Attempts[0].Transitions) != len(failedStates) || len(d.Reasons) == 0 {
		t.Fatalf("the details are %+v", d)
	}
	attempt := d.Attempts[0]
	if attempt.Outcome != overview.Failed || *attempt.ExitCode != 1 || attempt.Class != "application" || attempt.Ended.Sub(attempt.Started) != 3*time.Second {
		t.Errorf("the attempt is %+v", attempt)
	}
	for i, step := range attempt.Transitions {
		want := Delivered
		if i >= 5 {
			want = DeliveryPending
		}
		if step.Delivery != want || step.Event == "" || step.EventType == "" || i < len(failedStates)-1 && step.Lasted != 1000 {
			t.Errorf("transition %d is %+v", i, step)
		}
	}
	if attempt.Transitions[1].WaitedFor == "" {
		t.Error("it does not say what the driver waited for")
	}
	if _, ok := e.Details(Ref{"a", apacheApps, "other"}, true); ok {
		t.Error("there are details of an object that does not exist")
	}
}

func TestQueriesFilterSortAndPage(t *testing.T) {
	e := newEnv(t)
	e.set(app{namespace: "a", name: "done", age: 3 * time.Hour, states: doneStates, labels: map[string]string{"team": "red", "stage": "test"}})
	e.set(app{namespace: "a", name: "live", age: time.Hour, states: runningStates, kubeflow: true, annotations: map[string]any{"user": "ann"}})
	e.set(app{namespace: "b", name: "bad", age: 2 * time.Hour, states: failedStates, failure: "out of memory", labels: map[string]string{"team": "red"}})
	for parameters, want := range map[string]string{
		"":                                  "live bad done",
		"order=asc":                         "done bad live",
		"sort=name&order=asc":               "bad done live",
		"namespace=a":                       "live done",
		"namespace=a,b&outcome=failed":      "bad",
		"outcome=running,succeeded":         "live done",
		"state=RUNNING":                     "live",
		"resource=" + kubeflowApps:          "live",
		"team=red":                          "bad done",
		"user=ann":                          "live",
		"labelSelector=stage!=test,team":    "bad",
		"text=BA":                           "bad",
		"text=spark-do":                     "done",
		"since=2026-01-31T10:30:00Z":        "live",
		"until=2026-01-31T09:30:00Z":        "done",
		"kind=schedule":                     "",
		"limit=1&offset=1":                  "bad",
		"offset=3":                          "",
		"asOf=2026-01-31T10:30:00Z":         "bad done",
		"flag=foreign":                      "",
		"flag=undelivered&outcome=running":  "live",
		"sort=duration&order=asc&limit=500": "done bad live",
	} {
		if got := strings.Join(e.names(everything{}, parameters), " "); got != want {
			t.Errorf("%s selects %q, want %q", parameters, got, want)
		}
	}
	if page := e.page(everything{}, "asOf=2026-01-31T10:30:00Z"); page.Newer != 1 || page.Total != 2 {
		t.Errorf("%d are newer of %d", page.Newer, page.Total)
	}
	for _, parameters := range []string{"limit=0", "limit=501", "offset=-1", "sort=color", "outcome=odd", "since=today", "labelSelector=,,=", "other=1", "kind=application,cluster"} {
		values, _ := url.ParseQuery(parameters)
		var wrong *ParameterError
		if _, err := ParseQuery(values); !errors.As(err, &wrong) || wrong.Remedy == "" {
			t.Errorf("%s: %v", parameters, err)
		}
	}
}

// A page is the same as the part of all sorted rows.
func TestPagesAreThoseOfTheSortedList(t *testing.T) {
	e := newEnv(t)
	for i := range 700 {
		e.set(app{namespace: fmt.Sprintf("ns-%d", i%7), name: fmt.Sprintf("app-%03d", i*7919%700), age: time.Duration(i*31%97) * time.Minute, states: runningStates})
	}
	for _, order := range Sorts() {
		all := append(e.names(everything{}, "limit=500&sort="+order), e.names(everything{}, "limit=500&offset=500&sort="+order)...)
		for _, offset := range []int{0, 10, 333, 690} {
			got := e.names(everything{}, fmt.Sprintf("sort=%s&offset=%d&limit=20", order, offset))
			if want := all[offset:min(offset+20, 700)]; !slices.Equal(got, want) {
				t.Errorf("by %s from %d: %q, want %q", order, offset, got, want)
			}
		}
	}
}

func TestNothingOfAnInvisibleGroupShows(t *testing.T) {
	e := newEnv(t)
	mine := app{namespace: "a", name: "mine", age: time.Hour, states: runningStates, labels: map[string]string{"team": "red"}}
	hidden := app{namespace: "b", name: "hidden", age: time.Hour, states: failedStates, failure: "secret-name", labels: map[string]string{"team": "blue"}}
	hiddenKind := app{namespace: "a", name: "hidden-kind", kubeflow: true, age: time.Hour, states: failedStates, failure: "secret-name"}
	for _, a := range []app{mine, hidden, hiddenKind} {
		e.set(a)
	}
	see := only{Group{"a", apacheApps}: true}
	if got := e.page(see, ""); got.Total != 1 || got.Rows[0].Name != "mine" {
		t.Errorf("the page is %+v", got)
	}
	got := e.Overview(see, time.Time{})
	if text := fmt.Sprintf("%+v", got); strings.Contains(text, "hidden") || strings.Contains(text, "blue") || strings.Contains(text, "b:") {
		t.Errorf("the overview is %s", text)
	}
	if got.Total.Running != 1 || got.Total.Failed != 0 || len(got.Causes) != 0 || len(got.Namespaces) != 1 || len(got.Feed) != len(runningStates) {
		t.Errorf("the overview is %+v", got)
	}
	last := got.Series[len(got.Series)-1]
	if last.Running != 1 || last.Waiting != 0 {
		t.Errorf("the series ends with %+v", last)
	}
	e.flush()
	cursor := e.Cursor()
	e.deleteObject(hidden.ref(), hidden.uid(), false)
	e.flush()
	if changes, _ := e.ChangesSince(see, cursor); len(changes.Items) != 0 || changes.Missed {
		t.Errorf("the changes are %+v", changes)
	}
}

func TestNewNamespaceOfTheSameNameInheritsNothing(t *testing.T) {
	for name, unseen := range map[string]bool{"all were seen to go": false, "the deletion was not seen": true} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			old := app{namespace: "a", name: "old", age: time.Hour, states: doneStates}
			e.set(old)
			if unseen {
				e.set(app{namespace: "a", name: "new", age: time.Minute, states: []string{"Submitted"}})
			}
			e.deleteObject(old.ref(), old.uid(), unseen)
			if !unseen {
				e.set(app{namespace: "a", name: "new", age: time.Minute, states: []string{"Submitted"}})
			}
			got := e.Overview(everything{}, time.Time{})
			if text := fmt.Sprintf("%+v", got.Feed); strings.Contains(text, "old") {
				t.Errorf("the feed is %s", text)
			}
			if slices.ContainsFunc(got.Series, func(l Load) bool { return l.Running > 0 }) {
				t.Errorf("the series is %+v", got.Series)
			}
		})
	}
}

func TestOverviewCountsByNamespaceTeamAndCause(t *testing.T) {
	e := newEnv(t)
	for i := range 3 {
		e.set(app{namespace: "a", name: fmt.Sprintf("bad-%d", i), age: time.Hour, states: failedStates, failure: "boom", labels: map[string]string{"team": "red"}})
	}
	e.set(app{namespace: "b", name: "early", age: 48 * time.Hour, states: failedStates, failure: "boom"})
	e.set(app{namespace: "b", name: "held", age: time.Minute, states: []string{"Submitted"}, quota: map[string]any{
		"since": microTime(now), "pods": []any{map[string]any{"count": int64(2), "usage": map[string]any{"requests.cpu": int64(1500), "requests.memory": int64(1024 << 20 * 1000)}}},
	}})
	got := e.Overview(everything{}, now.Add(-12*time.Hour))
	if got.Total.Failed != 3 || got.Total.Waiting != 1 || got.Total.Held != 1 || got.Teams["red"].Failed != 3 || got.Namespaces["b"].Failed != 0 {
		t.Errorf("the counts are %+v, teams %+v", got.Total, got.Teams)
	}
	if want := (Resources{MilliCPU: 3000, Mebibytes: 2048}); got.Total.HeldResources != want {
		t.Errorf("held are %+v, want %+v", got.Total.HeldResources, want)
	}
	if len(got.Causes) != 1 || got.Causes[0].Count != 3 || got.Causes[0].Last == nil {
		t.Errorf("the causes are %+v", got.Causes)
	}
	if got.Total.Undelivered == 0 || len(got.Undelivered) == 0 {
		t.Error("no undelivered events are counted")
	}
}

func TestOverviewHasTheCostOfWhatItCounts(t *testing.T) {
	e := newEnv(t)
	hour := map[string]any{"total": map[string]any{"driver": map[string]any{"seconds": int64(3600), "coreMilliseconds": int64(3_600_000)}}}
	red := map[string]string{"team": "red"}
	e.set(app{namespace: "a", name: "bad", age: time.Hour, states: failedStates, failure: "boom", labels: red, usage: hour})
	e.set(app{namespace: "a", name: "live", age: 48 * time.Hour, states: runningStates, labels: red, usage: hour})
	e.set(app{namespace: "b", name: "early", age: 48 * time.Hour, states: failedStates, failure: "boom", usage: hour})
	if got := e.Overview(everything{}, now.Add(-12*time.Hour)).Total.Usage; got != (Usage{CoreSeconds: 7200}) {
		t.Errorf("without prices the usage is %+v", got)
	}
	priced := Settings{TeamLabel: "team", Prices: Prices{CoreHour: 0.04, Currency: "EUR"}}
	e.options.Settings = func() Settings { return priced }
	e.readAgain(priced)
	got := e.Overview(everything{}, now.Add(-12*time.Hour))
	for name, counts := range map[string]Counts{"all": got.Total, "the namespace": got.Namespaces["a"], "the team": got.Teams["red"]} {
		if cost := counts.Usage.Cost; cost == nil || cost.Total != 0.08 || counts.Usage.CoreSeconds != 7200 {
			t.Errorf("of %s the usage is %+v", name, counts.Usage)
		}
	}
	if used := got.Namespaces["b"].Usage; used.CoreSeconds != 0 {
		t.Errorf("what ended before counts: %+v", used)
	}
}

func TestChangesAreCoalescedAndTransitionsAreNotLost(t *testing.T) {
	e := newEnv(t)
	cursor := e.Cursor()
	a := app{namespace: "a", name: "etl", age: time.Hour}
	for i := range runningStates {
		a.states = runningStates[:i+1]
		e.set(a)
	}
	e.flush()
	changes, more := e.ChangesSince(everything{}, cursor)
	if len(changes.Items) != 1 || len(changes.Items[0].Transitions) != len(runningStates) || changes.Items[0].Row.State != "RunningHealthy" {
		t.Fatalf("the changes are %+v", changes.Items)
	}
	if next, _ := e.ChangesSince(everything{}, changes.Cursor); len(next.Items) != 0 {
		t.Errorf("there are further changes: %+v", next)
	}
	select {
	case <-more:
		t.Error("readers are woken for nothing")
	default:
	}
	e.deleteObject(a.ref(), a.uid(), false)
	e.flush()
	<-more
	if next, _ := e.ChangesSince(everything{}, changes.Cursor); len(next.Items) != 1 || next.Items[0].Row != nil {
		t.Errorf("the deletion is %+v", next.Items)
	}
}

func TestReaderThatMissedChangesIsToldSo(t *testing.T) {
	e := newEnv(t)
	first := e.Cursor()
	for i := range maxChanges + 10 {
		e.set(app{namespace: "a", name: fmt.Sprint(i % 10), states: []string{"Submitted"}})
		e.flush()
	}
	for name, cursor := range map[string]uint64{"an old cursor": first, "another replica's": e.Cursor() + 1, "none": 0} {
		if changes, _ := e.ChangesSince(everything{}, cursor); !changes.Missed || len(changes.Items) > 0 {
			t.Errorf("with %s: %+v", name, changes)
		}
	}
	many := newEnv(t)
	begin := many.Cursor()
	for i := range maxAtOnce + 1 {
		many.set(app{namespace: "a", name: fmt.Sprint(i), states: []string{"Submitted"}})
	}
	many.flush()
	if changes, _ := many.ChangesSince(everything{}, begin); !changes.Missed || changes.Cursor != many.Cursor() {
		t.Errorf("too many changes: %d, %v", len(changes.Items), changes.Missed)
	}
}

func TestFollowEndsWithTheContext(t *testing.T) {
	e := newEnv(t)
	ctx, cancel := context.WithCancel(t.Context())
	go e.publish(ctx)
	a := app{namespace: "a", name: "etl", states: []string{"Submitted"}}
	seen := 0
	err := e.Follow(ctx, func(context.Context) (Visible, error) {
		if seen++; seen == 1 {
			go e.set(a)
		}
		return everything{}, nil
	}, e.Cursor(), func(changes Changes) error {
		if len(changes.Items) == 1 {
			cancel()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("it ends with %v", err)
	}
}

// changing sees what it is set to see.
type changing struct{ Visible }

func (c changing) Key() string { return fmt.Sprint(c.Visible) }

func TestFollowSaysThatTheRightsChanged(t *testing.T) {
	e := newEnv(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	e.set(app{namespace: "a", name: "etl", states: []string{"Submitted"}})
	var seen atomic.Pointer[changing]
	seen.Store(&changing{everything{}})
	got := make(chan Changes)
	go func() {
		_ = e.Follow(ctx, func(context.Context) (Visible, error) { return *seen.Load(), nil }, e.Cursor(), func(changes Changes) error { // it ends with the test
			got <- changes
			return nil
		})
	}()
	for _, now := range []changing{{only{}}, {everything{}}} {
		for !e.clock.HasWaiters() {
			runtime.Gosched()
		}
		seen.Store(&now)
		e.clock.Step(reviewEvery)
		if changes := <-got; !changes.Missed || len(changes.Items) > 0 {
			t.Errorf("for %v it says %+v", now, changes)
		}
	}
}

func TestSchedulesHavePastAndComingRuns(t *testing.T) {
	e := newEnv(t)
	schedule := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "firesteel.dev/v1alpha1", "kind": "ScheduledSparkApplication",
		"metadata": map[string]any{"namespace": "a", "name": "nightly", "uid": "schedule", "resourceVersion": "1", "creationTimestamp": now.Add(-48 * time.Hour).Format(time.RFC3339)},
		"spec":     map[string]any{"schedule": "0 2 * * *", "timeZone": "Europe/Berlin", "template": map[string]any{"spec": map[string]any{}}},
		"status":   map[string]any{"scheduleState": "Scheduled", "nextRun": now.Add(-10 * time.Minute).Format(time.RFC3339)},
	}}
	e.read(schedule, apacheSchedule)
	due := now.Add(-11 * time.Hour)
	e.set(app{
		namespace: "a", name: "nightly-1", age: 11*time.Hour - 5*time.Second, states: doneStates, annotations: map[string]any{"firesteel.dev/scheduled-time": due.Format(time.RFC3339)},
		owner: map[string]any{"apiVersion": "firesteel.dev/v1alpha1", "kind": "ScheduledSparkApplication", "name": "nightly", "uid": "schedule", "controller": true},
	})
	ref := Ref{"a", apacheSchedule, "nightly"}
	row, _ := e.Row(ref)
	if row.Late(now) != 10*time.Minute || row.Runs.TimeZone != "Europe/Berlin" {
		t.Errorf("the row is %+v, %+v", row, row.Runs)
	}
	d, ok := e.Schedule(everything{}, ref)
	if !ok || len(d.Runs) != 1 || d.Runs[0].Delay != 5000 || !d.Runs[0].Due.Equal(due) || len(d.Next) != nextRuns || d.Next[0].Hour() != 1 {
		t.Fatalf("the schedule is %+v", d)
	}
	if d, _ := e.Schedule(only{Group{"a", apacheSchedule}: true}, ref); len(d.Runs) != 0 {
		t.Errorf("who may not list the runs sees %+v", d.Runs)
	}
	calendar := e.Calendar(everything{}, now.Add(-24*time.Hour), now.Add(48*time.Hour))
	if len(calendar) != 3 || calendar[0].Row == nil || calendar[1].Row != nil || calendar[2].Due.Sub(calendar[1].Due) != 24*time.Hour {
		t.Errorf("the calendar is %+v", calendar)
	}
	if got := e.Overview(everything{}, now); len(got.Late) != 1 || got.Total.Late != 1 {
		t.Errorf("late are %+v", got.Late)
	}
}

func TestClusterKnowsItsUsers(t *testing.T) {
	e := newEnv(t)
	e.read(&unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "spark.apache.org/v1", "kind": "SparkCluster",
		"metadata": map[string]any{"namespace": "a", "name": "pool", "uid": "cluster", "resourceVersion": "1", "creationTimestamp": now.Format(time.RFC3339)},
		"spec":     map[string]any{"runtimeVersions": map[string]any{"sparkVersion": "4.1.0"}, "clusterTolerations": map[string]any{"instanceConfig": map[string]any{"initWorkers": int64(2), "minWorkers": int64(2), "maxWorkers": int64(2)}}},
	}}, clusters)
	e.set(app{namespace: "a", name: "user", states: runningStates, conf: map[string]any{"spark.kubernetes.driver.master": "spark://pool-master-svc:7077"}})
	e.set(app{namespace: "b", name: "elsewhere", states: runningStates, conf: map[string]any{"spark.kubernetes.driver.master": "spark://pool-master-svc:7077"}})
	e.set(app{namespace: "b", name: "by-host", states: runningStates, conf: map[string]any{"spark.kubernetes.driver.master": "spark://pool-master-svc.a.svc:7077"}})
	d, ok := e.Cluster(everything{}, Ref{"a", clusters, "pool"}, true)
	if !ok || len(d.Users) != 2 || d.Row.Executors.Asked != 2 {
		t.Errorf("the cluster is %+v", d)
	}
	for _, row := range d.Users {
		if row.Name == "elsewhere" {
			t.Error("a Service of another namespace is taken for the cluster's")
		}
	}
}

func TestDriverUIIsThatOfTheRecordedPod(t *testing.T) {
	e := newEnv(t)
	a := app{namespace: "a", name: "etl", states: runningStates, conf: map[string]any{"spark.ui.port": "4041", "spark.ui.proxyBase": "/mine"}}
	e.set(a)
	if ui, ok := e.DriverUI(a.ref()); !ok || ui.Runs || ui.IP != "" || ui.Port != 4041 || ui.ProxyBase != "/mine" {
		t.Errorf("without a Pod the UI is %+v", ui)
	}
	pod := newPodOf(a, "driver", "", corev1.PodRunning)
	pod.Status.PodIP, pod.Spec.HostNetwork = "10.0.0.1", true
	e.pod(pod)
	other := pod.DeepCopy()
	other.Name, other.UID, other.Status.PodIP = "forged", "forged", "10.0.0.2"
	e.pod(other)
	if ui, _ := e.DriverUI(a.ref()); !ui.Runs || ui.Pod != pod.Name || ui.IP != "10.0.0.1" || !ui.HostNetwork || ui.UID != a.uid() || ui.Attempt != 0 {
		t.Errorf("the UI is %+v", ui)
	}
}

func TestHostileObjectsHaveBoundedRows(t *testing.T) {
	e := newEnv(t)
	labels := map[string]string{}
	for i := range 1000 {
		labels[fmt.Sprintf("label-%04d", i)] = "<script>alert(1)</script>"
	}
	big := app{namespace: "a", name: "big", states: runningStates, labels: labels, conf: map[string]any{"spark.padding": noise(1 << 20)}}
	e.set(big)
	row, _ := e.Row(big.ref())
	if len(row.Labels) != maxLabels {
		t.Errorf("the row has %d labels", len(row.Labels))
	}
	if size := len(e.find(big.ref()).source); size > maxSource {
		t.Errorf("%d bytes are kept", size)
	}
	if d, ok := e.Details(big.ref(), true); !ok || len(d.Attempts) != 1 {
		t.Errorf("the details are %+v", d)
	}
	for name, object := range map[string]map[string]any{
		"no spec":      {},
		"a wrong spec": {"spec": "text", "status": "text"},
		"odd status":   {"spec": map[string]any{}, "status": map[string]any{"firesteel": map[string]any{"transitions": "many"}}},
	} {
		object["apiVersion"], object["kind"] = "spark.apache.org/v1", "SparkApplication"
		object["metadata"] = map[string]any{"namespace": "a", "name": "odd", "uid": name, "resourceVersion": name}
		e.read(&unstructured.Unstructured{Object: object}, apacheApps)
		if _, ok := e.Row(Ref{"a", apacheApps, "odd"}); !ok {
			t.Errorf("with %s there is no row", name)
		}
		if _, ok := e.Details(Ref{"a", apacheApps, "odd"}, true); !ok {
			t.Errorf("with %s there are no details", name)
		}
	}
}

// noise returns a text that cannot be compressed well.
func noise(length int) string {
	var text strings.Builder
	for state := uint64(1); text.Len() < length; {
		state = state*6364136223846793005 + 1442695040888963407
		fmt.Fprintf(&text, "%x", state)
	}
	return text.String()[:length]
}

func TestPodKeepsNothingSecret(t *testing.T) {
	a := app{namespace: "a", name: "etl"}
	kept := newPod(newPodOf(a, "driver", "", corev1.PodRunning))
	if strings.Contains(string(kept.encoded), "PASSWORD") || strings.Contains(string(kept.encoded), "secret") {
		t.Error("the environment of a container is kept")
	}
}
