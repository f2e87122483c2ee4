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
	clienttesting "k8s.io/client-go/testing"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/applications"
	sparkfake "github.com/firesteel-dev/firesteel/pkg/client/clientset/versioned/fake"
	"github.com/firesteel-dev/firesteel/pkg/podtemplate"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/applicationtest"
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
	l := New(Config{API: api, Clock: applicationtest.ClockAt(applicationtest.Start), Templates: podtemplate.NewKeeper(t.Context(), nil, nil)})
	v, record := applicationtest.Viewed(app), &v1alpha1.Record{
		Attempt: v1alpha1.Attempt{Since: metav1.NewMicroTime(applicationtest.Start)}, Launch: &v1alpha1.Launch{ID: idOfLaunch, DriverPod: "pi-0-driver"},
	}
	prepared := &Prepared{resumed: true}
	if err := l.Fence(t.Context(), v, record, prepared); err != nil {
		t.Fatal(err)
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
}

func TestStatusWriteOfAFirstLaunchIsPostponedUntilItIsDue(t *testing.T) {
	clock := applicationtest.ClockAt(applicationtest.Start)
	l := New(Config{Clock: clock})
	app := applicationtest.Pi().Obj()
	record := func(launch string) *v1alpha1.Record {
		return &v1alpha1.Record{Sequence: 2, Launch: &v1alpha1.Launch{ID: launch, DriverPod: "pi-0-driver", DriverUID: "driver-0"}}
	}
	if _, postponed := l.Postpone(app, record(idOfLaunch), nil, time.Second); postponed {
		t.Error("postponed the status write of a launch that another process fenced")
	}
	l.fences.Add(app.UID, &FirstLaunch{Launch: &v1alpha1.Launch{ID: idOfLaunch}, Since: applicationtest.Start})
	if _, postponed := l.Postpone(app, record("another"), nil, time.Second); postponed {
		t.Error("postponed the status write of another launch")
	}
	for range 2 {
		due, postponed := l.Postpone(app, record(idOfLaunch), nil, time.Second)
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
