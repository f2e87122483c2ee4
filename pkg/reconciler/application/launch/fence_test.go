package launch

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/applications"
	sparkfake "github.com/firesteel-dev/firesteel/pkg/client/clientset/versioned/fake"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/podtemplate/fetch"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/applicationtest"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/drivers"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

const idOfLaunch = "0123456789abcdef0123456789abcdef"

func TestFenceOfAFirstLaunchIsReadFromItsAnnotation(t *testing.T) {
	written := &FirstLaunch{
		Launch: &v1alpha1.Launch{ID: idOfLaunch, DriverPod: "pi-0-driver", ApplicationID: "spark-1"}, Since: applicationtest.Start,
	}
	valid := fmt.Sprintf(`{"application":"uid-of-pi","attempt":0,"since":"`+applicationtest.Start.Format(metav1.RFC3339Micro)+`","launch":%q,"driverPod":"pi-0-driver","applicationID":"spark-1"}`, idOfLaunch)
	for name, test := range map[string]struct {
		annotation string
		want       *FirstLaunch
	}{
		"as it was written":             {valid, written},
		"not if there is none":          {"", nil},
		"not of another application":    {strings.Replace(valid, "uid-of-pi", "uid-of-another", 1), nil},
		"not of a later attempt":        {strings.Replace(valid, `"attempt":0`, `"attempt":1`, 1), nil},
		"not without its begin":         {strings.Replace(valid, `"since"`, `"until"`, 1), nil},
		"not if it is no JSON":          {valid[1:], nil},
		"not if the id is no launch's":  {strings.Replace(valid, idOfLaunch, "any", 1), nil},
		"not if the name is no Pod's":   {strings.Replace(valid, "pi-0-driver", "../pods", 1), nil},
		"not if it is longer than ours": {valid[:len(valid)-1] + `,"more":"` + strings.Repeat("x", maxFence) + `"}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			app := applicationtest.Pi().Obj()
			app.Annotations = map[string]string{AnnotationFence: test.annotation}
			l := New(Config{Clock: applicationtest.ClockAt(applicationtest.Start)})
			if diff := cmp.Diff(test.want, l.Fenced(app)); diff != "" {
				t.Errorf("the launch (-want +got):\n%s", diff)
			}
			app.Status.Firesteel = &v1alpha1.Record{}
			if got := l.Fenced(app); got != nil {
				t.Errorf("the record has the launch, and the annotation says %+v", got)
			}
		})
	}
}

// One patch has the finalizer and the fence, and it fails if the application changed since it was read.
func TestFenceIsWrittenOnceWithTheFinalizer(t *testing.T) {
	app := applicationtest.Pi().Obj()
	app.Finalizers, app.Annotations, app.ResourceVersion = []string{"example.com/theirs"}, map[string]string{"theirs": "stays"}, "17"
	client := sparkfake.NewSimpleClientset(app.DeepCopy())
	api := applications.Apache(client)
	l := New(Config{API: api, Clock: applicationtest.ClockAt(applicationtest.Start), Templates: fetch.NewKeeper(t.Context(), nil, nil)})
	v, record := applicationtest.Viewed(app), &v1alpha1.Record{
		Attempt: v1alpha1.Attempt{Since: metav1.NewMicroTime(applicationtest.Start)}, Launch: &v1alpha1.Launch{ID: idOfLaunch, DriverPod: "pi-0-driver"},
	}
	prepared := &Prepared{resumed: true}
	settledMeanwhile := true
	client.PrependReactor("patch", "sparkapplications", func(clienttesting.Action) (bool, runtime.Object, error) {
		settledMeanwhile = l.Settled()
		return false, nil, nil
	})
	if err := l.Fence(t.Context(), v, record, prepared); err != nil {
		t.Fatal(err)
	}
	if settledMeanwhile || l.Settled() {
		t.Errorf("the process may stop while the fence is written: %t, and before the record is: %t", settledMeanwhile, l.Settled())
	}
	if !slices.Equal(v.App.GetFinalizers(), []string{"example.com/theirs", api.Finalizer}) {
		t.Errorf("finalizers are %v", v.App.GetFinalizers())
	}
	if names := slices.Sorted(maps.Keys(v.App.GetAnnotations())); !slices.Equal(names, []string{AnnotationFence, "theirs"}) {
		t.Errorf("annotations are %v", names)
	}
	if prepared.resumed {
		t.Error("the write did not prove that the application is as it was read")
	}
	if len(client.Actions()) != 1 {
		t.Errorf("asked %v, want one patch", client.Actions())
	}
	patch := client.Actions()[0].(clienttesting.PatchAction).GetPatch()
	if !strings.Contains(string(patch), `"resourceVersion":"17"`) {
		t.Errorf("the patch %s has no precondition", patch)
	}

	prepared.resumed = true
	if err := l.Fence(t.Context(), v, record, prepared); err != nil || len(client.Actions()) != 1 || !prepared.resumed {
		t.Errorf("the same fence was written again: %v, %v", client.Actions(), err)
	}
	v.App.SetAnnotations(nil) // kubectl replace
	if got := l.Fenced(v.App); got == nil || got.Launch.ID != idOfLaunch || !got.Since.Equal(applicationtest.Start) {
		t.Errorf("without the annotation the launch is %+v", got)
	}
	l.Recorded(v.App.GetUID())
	if got := l.Fenced(v.App); got != nil {
		t.Errorf("once it was recorded the launch is %+v", got)
	}
	if !l.Settled() {
		t.Error("the process waits although the launch is in the record")
	}
}

func TestStatusWriteOfAFirstLaunchIsPostponedUntilItIsDue(t *testing.T) {
	clock := applicationtest.ClockAt(applicationtest.Start)
	l := New(Config{Clock: clock})
	app := applicationtest.Pi().Obj()
	record := func(launch string) *v1alpha1.Record {
		return &v1alpha1.Record{Sequence: 2, Launch: &v1alpha1.Launch{ID: launch, DriverPod: "pi-0-driver", DriverUID: "driver-0"}}
	}
	if _, postponed := l.Postpone(app, record(idOfLaunch), time.Second); postponed {
		t.Error("postponed the status write of a launch that another process fenced")
	}
	l.fences.Add(app.UID, &FirstLaunch{Launch: &v1alpha1.Launch{ID: idOfLaunch}, Since: applicationtest.Start})
	if _, postponed := l.Postpone(app, record("another"), time.Second); postponed {
		t.Error("postponed the status write of another launch")
	}
	for range 2 {
		due, postponed := l.Postpone(app, record(idOfLaunch), time.Second)
		if want := applicationtest.Start.Add(time.Second); !postponed || !due.Equal(want) {
			t.Errorf("postponed is %t until %s, want %s", postponed, due, want)
		}
		clock.SetTime(clock.Now().Add(time.Second / 2)) // calling again does not make it later
	}
	if first := l.Fenced(app); first == nil || first.Unwritten == nil || first.Unwritten.Record.Launch.DriverUID != "driver-0" {
		t.Errorf("the launch is %+v, want one that is not written", first)
	}
	again := *l.Fenced(app).Launch
	again.ID = strings.Repeat("f", 32)
	app.Annotations = map[string]string{AnnotationFence: fmt.Sprintf(
		`{"application":"uid-of-pi","attempt":0,"since":%q,"launch":%q,"driverPod":"pi-0-driver"}`,
		applicationtest.Start.Format(metav1.RFC3339Micro), again.ID)}
	if first := l.Fenced(app); first == nil || first.Unwritten != nil || first.Launch.ID != again.ID {
		t.Errorf("another replica fenced the launch %s, and it is %+v", again.ID, first)
	}
}

// The response to the write of the fence, or to the live read, may reach a paused process late.
func TestFenceIsValidFromBeforeItIsWritten(t *testing.T) {
	for name, test := range map[string]struct {
		age     time.Duration
		created bool
	}{
		"for less than its time": {fenceTimeout - time.Second, true},
		"for its time":           {fenceTimeout, false},
	} {
		t.Run(name, func(t *testing.T) {
			client, clock := fake.NewClientset(), applicationtest.ClockAt(applicationtest.Start.Add(test.age))
			l := New(Config{
				Kube: client, API: applications.Apache(nil), Clock: clock, Expectations: drivers.NewExpectations(clock),
				Templates: fetch.NewKeeper(t.Context(), nil, nil),
			})
			prepared := &Prepared{
				objects: &submission.Objects{Driver: applicationtest.DriverOf("this", "").Obj()}, launch: &v1alpha1.Launch{ID: "this"},
				at: applicationtest.Start,
			}
			_, err := l.Create(t.Context(), applicationtest.Viewed(applicationtest.Pi().Obj()), prepared, &lifecycle.Observation{})
			if created := len(client.Actions()) > 0; created != test.created || (err == nil) != test.created {
				t.Errorf("created: %t, error %v", created, err)
			}
		})
	}
}

// Another replica that launched the attempt before may have a create under way.
func TestNextAttemptWaitsForCreatesOfAnotherReplica(t *testing.T) {
	after := func(seconds int) time.Time { return applicationtest.Start.Add(time.Duration(seconds) * time.Second) }
	record := func(transitions ...v1alpha1.Transition) *v1alpha1.Record {
		for i := range transitions {
			transitions[i].Time = metav1.NewMicroTime(after(i))
		}
		return &v1alpha1.Record{Attempt: v1alpha1.Attempt{ID: 2}, Transitions: transitions}
	}
	launched := record(
		v1alpha1.Transition{State: "Failed"},
		v1alpha1.Transition{State: "ScheduledToRestart", Attempt: 1}, v1alpha1.Transition{State: "DriverRequested", Attempt: 1},
		v1alpha1.Transition{State: "Failed", Attempt: 1}, v1alpha1.Transition{State: "ScheduledToRestart", Attempt: 2})
	const attempt, before = int64(1), int64(0)
	for name, test := range map[string]struct {
		record *v1alpha1.Record
		own    []int64
		led    bool
		want   time.Time
	}{
		"from when the record has the driver":  {record: launched, want: after(2).Add(handover)},
		"from when it was refused":             {record: record(v1alpha1.Transition{State: "Submitted"}, v1alpha1.Transition{State: "SchedulingFailure"}), want: after(1).Add(handover)},
		"not if this replica launched it":      {record: launched, own: []int64{attempt}},
		"if this replica launched another":     {record: launched, own: []int64{attempt, before}, want: after(2).Add(handover)},
		"if another was the leader since then": {record: launched, own: []int64{attempt}, led: true, want: after(2).Add(handover)},
		"not if nothing was launched":          {record: record(v1alpha1.Transition{State: "Submitted"})},
		"not if there is no record":            {},
	} {
		t.Run(name, func(t *testing.T) {
			app := applicationtest.Pi().Obj()
			client, clock := fake.NewClientset(), applicationtest.ClockAt(applicationtest.Start)
			l := New(Config{
				Kube: client, API: applications.Apache(nil), Clock: clock, Expectations: drivers.NewExpectations(clock),
				Templates: fetch.NewKeeper(t.Context(), nil, nil),
			})
			for _, attempt := range test.own {
				prepared := &Prepared{
					objects: &submission.Objects{Driver: applicationtest.DriverOf(fmt.Sprint(attempt), "").Obj()}, launch: &v1alpha1.Launch{},
					attempt: attempt, first: true, at: applicationtest.Start,
				}
				prepared.objects.Driver.Name += fmt.Sprint(attempt)
				if _, err := l.Create(t.Context(), applicationtest.Viewed(app), prepared, &lifecycle.Observation{}); err != nil {
					t.Fatal(err)
				}
			}
			if test.led {
				l.Promoted()
			}
			if got := l.CreatesOverAt(app, test.record); !got.Equal(test.want) {
				t.Errorf("over at %s, want %s", got, test.want)
			}
		})
	}
}
