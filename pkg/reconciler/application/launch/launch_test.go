package launch

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/applications"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/podtemplate/fetch"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/applicationtest"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/drivers"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/drivers/driverstest"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// A launch of which nothing is missing needs no completion, whatever another would look like.
func TestALaunchIsCompleteIfItsDriverAndObjectsExist(t *testing.T) {
	driver := func(id string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Namespace: "team-a", Name: "pi-0-driver", UID: "uid-of-driver", Labels: map[string]string{dialect.LabelLaunch: id},
		}}
	}
	for name, test := range map[string]struct {
		existing []runtime.Object
		answer   error // to a read of a Service
		want     types.UID
		fails    bool
	}{
		"where all of it is there":             {[]runtime.Object{driver("this"), ofLaunch("this").Obj()}, nil, "uid-of-driver", false},
		"not where nothing is":                 {nil, nil, "", false},
		"not where its driver is missing":      {[]runtime.Object{ofLaunch("this").Obj()}, nil, "", false},
		"not where its Service is missing":     {[]runtime.Object{driver("this")}, nil, "", false},
		"not where one is an earlier launch's": {[]runtime.Object{driver("this"), ofLaunch("earlier").Obj()}, nil, "", false},
		"not where one is going":               {[]runtime.Object{driver("this"), ofLaunch("this").Going().Obj()}, nil, "", false},
		"where its Service is its own": {
			[]runtime.Object{driver("this"), ofLaunch("this").OwnedBy("Pod", "pi-0-driver").UIDOfOwner("uid-of-driver").Obj()}, nil, "uid-of-driver", false,
		},
		"not where one goes with an earlier driver": {
			[]runtime.Object{driver("this"), ofLaunch("this").OwnedBy("Pod", "pi-0-driver").UIDOfOwner("old").Obj()}, nil, "", false,
		},
		"not where one may not be looked at": {
			[]runtime.Object{driver("this")}, apierrors.NewForbidden(corev1.Resource("services"), "pi-0-driver-svc", nil), "", false,
		},
		"which is unknown if there is no answer": {
			[]runtime.Object{driver("this")}, apierrors.NewServiceUnavailable("later"), "", true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			client := fake.NewClientset(test.existing...)
			client.PrependReactor("get", "services", func(clienttesting.Action) (bool, runtime.Object, error) {
				return test.answer != nil, nil, test.answer
			})
			wanted := ofLaunch("another").Obj()
			wanted.Namespace = "" // as it is built
			objects := &submission.Objects{Driver: driver("another"), Owned: []submission.Object{wanted}}
			got, err := New(Config{API: applications.Apache(nil), Kube: client}).completeDriver(context.Background(), &v1alpha1.Launch{ID: "this"}, objects)
			if got != test.want || (err != nil) != test.fails {
				t.Errorf("launched %q, %v; want %q", got, err, test.want)
			}
		})
	}
}

// The API's dialect gets the objects of a launch as the API server created them, and none that was not created.
func TestLaunchCreatesEachObject(t *testing.T) {
	routes := dynamicfake.NewSimpleDynamicClient(runtime.NewScheme())
	routes.PrependReactor("create", "httproutes", func(clienttesting.Action) (bool, runtime.Object, error) {
		kind := schema.GroupResource{Group: "gateway.networking.k8s.io", Resource: "httproutes"}
		return true, nil, apierrors.NewGenericServerResponse(http.StatusNotFound, "POST", kind, "", "404 page not found", 0, true)
	})
	client := fake.NewClientset()
	client.PrependReactor("create", "services", func(action clienttesting.Action) (bool, runtime.Object, error) {
		made := action.(clienttesting.CreateAction).GetObject().DeepCopyObject().(*corev1.Service)
		made.Spec.ClusterIP = "10.0.0.1"
		return true, made, nil
	})
	metadata := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: "team-a", Name: name} }
	route := &unstructured.Unstructured{}
	route.SetAPIVersion("gateway.networking.k8s.io/v1")
	route.SetKind("HTTPRoute")
	route.SetName("web")
	objects := &submission.Objects{
		Before: []submission.Object{&corev1.ConfigMap{ObjectMeta: metadata("settings")}},
		Driver: &corev1.Pod{ObjectMeta: metadata("pi-driver")},
		Owned: []submission.Object{
			route, &corev1.Service{ObjectMeta: metadata("pi-ui-svc")}, &policyv1.PodDisruptionBudget{ObjectMeta: metadata("pi-driver-pdb")},
		},
	}
	l := New(Config{API: applications.Apache(nil), Kube: client, Dynamic: routes})
	made, err := l.create(t.Context(), applicationtest.Pi().Obj(), objects)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, object := range made.objects {
		names = append(names, object.GetName())
		if service, ok := object.(*corev1.Service); ok && service.Spec.ClusterIP != "10.0.0.1" {
			t.Errorf("the Service is not what the API server made of it: %+v", service.Spec)
		}
	}
	if diff := cmp.Diff([]string{"settings", "pi-driver", "pi-ui-svc", "pi-driver-pdb"}, names); diff != "" {
		t.Errorf("objects (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"HTTPRoute", "", ""}, made.missing); diff != "" || made.driver.Name != "pi-driver" {
		t.Errorf("the driver is %s, and missing kinds (-want +got):\n%s", made.driver.Name, diff)
	}
}

func TestADriverRunsWithoutAnOptionalObjectThatIsRefused(t *testing.T) {
	full := apierrors.NewInternalError(errors.New("failed to allocate a nodePort: range is full"))
	for name, test := range map[string]struct {
		refusal  error
		optional bool
		warning  string // part of it
		fails    bool
	}{
		"by a quota":            {exceeded, true, "Service team-a/pi-ui-1", false},
		"for want of a port":    {full, true, "The application runs without its Service team-a/pi-ui-1: Internal error occurred: failed to allocate a nodePort", false},
		"by a server's error":   {apierrors.NewServiceUnavailable("later"), true, "", true},
		"that it needs, though": {exceeded, false, "", true},
		"if it is not refused":  {nil, true, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			client := fake.NewClientset()
			client.PrependReactor("create", "services", func(clienttesting.Action) (bool, runtime.Object, error) {
				return test.refusal != nil, nil, test.refusal
			})
			ui := &corev1.Service{
				TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Service"}, ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "pi-ui-1"},
			}
			objects := &submission.Objects{
				Driver: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "pi-driver"}}, Owned: []submission.Object{ui},
			}
			if test.optional {
				objects.Optional = []submission.Object{ui}
			}
			made, err := New(Config{API: applications.Apache(nil), Kube: client}).create(t.Context(), applicationtest.Pi().Obj(), objects)
			if (err != nil) != test.fails || made.driver == nil {
				t.Fatalf("the driver is %v: %v", made.driver, err)
			}
			if got := strings.Join(made.refused, " "); (got != "") != (test.warning != "") || !strings.Contains(got, test.warning) {
				t.Errorf("warnings are %q", got)
			}
		})
	}
}

// A driver may be there though the launch is refused: what comes before it was not refused when it was made, and the answer
// was lost.
func TestRefusedLaunchOwnsItsExistingDriver(t *testing.T) {
	for name, test := range map[string]struct {
		existing []runtime.Object
		answer   error // to a read of the driver
		launched types.UID
		refused  bool
	}{
		"which is deleted":              {existing: []runtime.Object{applicationtest.DriverOf("this", "ours").Obj()}, launched: "ours", refused: true},
		"if there is one":               {refused: true},
		"but not an earlier launch's":   {existing: []runtime.Object{applicationtest.DriverOf("earlier", "any").Obj()}, refused: true},
		"and is not over while unknown": {answer: apierrors.NewServiceUnavailable("later")},
	} {
		t.Run(name, func(t *testing.T) {
			client := fake.NewClientset(test.existing...)
			client.PrependReactor("create", "configmaps", func(clienttesting.Action) (bool, runtime.Object, error) {
				return true, nil, exceeded
			})
			client.PrependReactor("get", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
				return test.answer != nil, nil, test.answer
			})
			app := applicationtest.Pi().Obj()
			app.Status.Firesteel = &v1alpha1.Record{Launch: &v1alpha1.Launch{ID: "this", DriverPod: "pi-0-driver"}}
			clock := applicationtest.ClockAt(applicationtest.Start)
			l := New(Config{Kube: client, Deleter: drivers.NewDeleter(client, clock, nil), API: applications.Apache(nil), Clock: clock, Expectations: drivers.NewExpectations(clock)})
			var seen lifecycle.Observation
			ctx := config.ToContext(t.Context(), config.Default())
			objects := &submission.Objects{
				Before: []submission.Object{&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "settings"}}},
				Driver: applicationtest.DriverOf("this", "").Obj(),
			}
			_, err := l.Create(ctx, applicationtest.Viewed(app), &Prepared{objects: objects, launch: app.Status.Firesteel.Launch, at: applicationtest.Start}, &seen)
			if seen.Launched != test.launched || (seen.LaunchRefused != nil) != test.refused || (err == nil) != test.refused {
				t.Errorf("launched %q, refused %v, error %v", seen.Launched, seen.LaunchRefused, err)
			}
			if applicationtest.Exists(t, client, "ours") {
				t.Error("the driver lives on")
			}
		})
	}
}

var exceeded = apierrors.NewForbidden(corev1.Resource("pods"), "pi-0-driver", errors.New("exceeded quota: tight"))

// The API server looks at quotas before names: it refuses a driver that it has already, of a create whose answer was lost.
func TestLaunchAcceptsADriverThatAlreadyExists(t *testing.T) {
	for name, test := range map[string]struct {
		existing []runtime.Object
		launched types.UID
		awaited  bool
	}{
		"if it is this launch's":        {[]runtime.Object{applicationtest.DriverOf("this", "ours").Obj()}, "ours", false},
		"and awaited if that is going":  {[]runtime.Object{applicationtest.DriverOf("this", "ours").Going().Obj()}, "", true},
		"and not if it is an earlier's": {[]runtime.Object{applicationtest.DriverOf("earlier", "ours").Obj()}, "", false},
		"and not if there is none":      {nil, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			client := fake.NewClientset(test.existing...)
			client.PrependReactor("create", "pods", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, exceeded })
			app := applicationtest.Pi().Obj()
			app.Status.Firesteel = &v1alpha1.Record{Launch: &v1alpha1.Launch{ID: "this", DriverPod: "pi-0-driver"}}
			clock := applicationtest.ClockAt(applicationtest.Start)
			l := New(Config{
				Kube: client, Deleter: drivers.NewDeleter(client, clock, nil), API: applications.Apache(nil), Clock: clock, Expectations: drivers.NewExpectations(clock),
				Drivers: driverstest.Cached(t), EnqueueAfter: func(any, time.Duration) {},
				Templates: fetch.NewKeeper(t.Context(), nil, nil),
			})
			var seen lifecycle.Observation
			ctx := config.ToContext(t.Context(), config.Default())
			objects := &submission.Objects{Driver: applicationtest.DriverOf("this", "").Obj()}
			proceeds, err := l.Create(ctx, applicationtest.Viewed(app), &Prepared{objects: objects, launch: app.Status.Firesteel.Launch, at: applicationtest.Start}, &seen)
			if err != nil || !proceeds || !seen.RetryLaunchAt.IsZero() != test.awaited || seen.Launched != test.launched {
				t.Errorf("proceeds: %t, launched %q, error %v", proceeds, seen.Launched, err)
			}
			if refused := seen.LaunchRefused != nil; refused != (seen.RetryLaunchAt.IsZero() && test.launched == "") {
				t.Errorf("refused: %v", seen.LaunchRefused)
			}
			if len(test.existing) > 0 && !applicationtest.Exists(t, client, "ours") {
				t.Error("the driver was deleted")
			}
		})
	}
}

// An edit between the fence and the launch makes another launch of the same attempt.
func TestFenceOfTheNextLaunchKeepsUnknownFields(t *testing.T) {
	app := applicationtest.Pi().Obj()
	app.Spec.MainClass = "Main"
	app.Status.Firesteel = &v1alpha1.Record{Launch: &v1alpha1.Launch{ID: "before the edit", DriverPod: "pi-0-driver", Unknown: `{"newer":1}`}}
	clock, record := applicationtest.ClockAt(applicationtest.Start), app.Status.Firesteel.DeepCopy()
	l := New(Config{
		Kube: fake.NewClientset(), API: applications.Apache(nil), Clock: clock, Expectations: drivers.NewExpectations(clock),
		Drivers: driverstest.Cached(t), Redactors: base.NewRedactors(),
	})
	var seen lifecycle.Observation
	launch, err := l.Prepare(config.ToContext(t.Context(), config.Default()), applicationtest.Viewed(app), record, &seen)
	if err != nil || launch == nil || launch.resumed || record.Launch.ID == "before the edit" || record.Launch.Unknown != `{"newer":1}` {
		t.Errorf("the launch %+v of %+v, seen %+v, %v", launch, record.Launch, seen, err)
	}
}

// The driver of a launch that was begun before an edit may have lost the labels that the informer selects by: no event reports its end.
func TestLaunchAfterAnEditReadsTheDriverThatWasBegunAgain(t *testing.T) {
	app := applicationtest.Pi().Obj()
	app.Spec.MainClass = "Main"
	app.Status.Firesteel = &v1alpha1.Record{Launch: &v1alpha1.Launch{ID: "before the edit", DriverPod: "pi-0-driver"}}
	begun := applicationtest.DriverOf("", "ours").Going().Obj()
	begun.Labels = nil
	clock := applicationtest.ClockAt(applicationtest.Start)
	var again time.Duration
	enqueueAfter := func(_ any, after time.Duration) { again = after }
	client := fake.NewClientset(begun)
	l := New(Config{
		Kube: client, API: applications.Apache(nil), Clock: clock, Expectations: drivers.NewExpectations(clock), Drivers: driverstest.Cached(t),
		Redactors: base.NewRedactors(), Deleter: drivers.NewDeleter(client, clock, func(any, time.Duration) {}), EnqueueAfter: enqueueAfter,
	})
	var seen lifecycle.Observation
	launch, err := l.Prepare(config.ToContext(t.Context(), config.Default()), applicationtest.Viewed(app), app.Status.Firesteel.DeepCopy(), &seen)
	if err != nil || launch != nil || !seen.HasOrphan {
		t.Fatalf("the launch %+v, seen %+v, %v", launch, seen, err)
	}
	if again != reportWaitAfter {
		t.Errorf("the application is enqueued after %s", again)
	}
}
