package ttl_test

import (
	"context"
	"errors"
	"testing"
	"time"

	cloudevents "github.com/cloudevents/sdk-go/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clienttesting "k8s.io/client-go/testing"
	clocktesting "k8s.io/utils/clock/testing"
	logtesting "knative.dev/pkg/logging/testing"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/client/clientset/versioned/fake"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/events"
	"github.com/firesteel-dev/firesteel/pkg/handlers/ttl"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

// ended is the instant at which the application of these tests ended. Its time to live is one minute.
var (
	ended = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	due   = ended.Add(time.Minute)
)

type application struct{ app sparkv1.SparkApplication }

// released returns an application that has ended and whose time to live is running.
func released() *application {
	a, live := &application{}, int64(60_000)
	a.app.Namespace, a.app.Name, a.app.UID, a.app.ResourceVersion = "team-a", "pi", "uid-of-pi", "17"
	a.app.Spec.ApplicationTolerations = &sparkv1.ApplicationTolerations{TTLAfterStopMillis: &live}
	a.app.Status.Firesteel = &v1alpha1.Record{Sequence: 2, Transitions: []v1alpha1.Transition{
		{Sequence: 1, Time: metav1.NewMicroTime(ended), State: string(lifecycle.Succeeded)},
		{Sequence: 2, Time: metav1.NewMicroTime(ended.Add(time.Second)), State: string(lifecycle.ResourceReleased)},
	}}
	return a
}

func (a *application) With(change func(*sparkv1.SparkApplication)) *application {
	change(&a.app)
	return a
}

func (a *application) Living(millis int64) *application {
	a.app.Spec.ApplicationTolerations.TTLAfterStopMillis = &millis
	return a
}

func (a *application) Obj() *sparkv1.SparkApplication { return a.app.DeepCopy() }

var pi = events.Object{
	Group: "spark.apache.org", Resource: "sparkapplications", Kind: "SparkApplication",
	Namespace: "team-a", Name: "pi", UID: "uid-of-pi",
}

func expiredEvent(t *testing.T, object events.Object) cloudevents.Event {
	t.Helper()
	event, err := events.NewExpiredEvent(object, due)
	if err != nil {
		t.Fatal(err)
	}
	return event
}

// handle calls the handler at an instant.
func handle(t *testing.T, client *fake.Clientset, now time.Time, about events.Object) error {
	t.Helper()
	return ttl.NewHandler(client, config.Default, nil, clocktesting.NewFakePassiveClock(now))(context.Background(), expiredEvent(t, about))
}

// deletions returns the preconditions of all deletes.
func deletions(client *fake.Clientset) []metav1.Preconditions {
	var sent []metav1.Preconditions
	for _, action := range client.Actions() {
		if deletion, ok := action.(clienttesting.DeleteActionImpl); ok {
			sent = append(sent, *deletion.DeleteOptions.Preconditions)
		}
	}
	return sent
}

func precondition(resourceVersion string) metav1.Preconditions {
	uid := types.UID("uid-of-pi")
	return metav1.Preconditions{UID: &uid, ResourceVersion: &resourceVersion}
}

func TestAnApplicationIsDeletedWhenItsTimeToLiveIsOver(t *testing.T) {
	for name, test := range map[string]struct {
		app     *application
		now     time.Time
		deletes bool
	}{
		"not before it is due":                 {released(), due.Add(-time.Microsecond), false},
		"at the instant that it is due":        {released(), due, true},
		"afterwards":                           {released(), due.Add(time.Hour), true},
		"at once with a time to live of zero":  {released().Living(0), ended.Add(time.Second), true},
		"never with a negative time to live":   {released().Living(-1), due.Add(1e6 * time.Hour), false},
		"never, however it was said":           {released().Living(-1 << 63), due.Add(1e6 * time.Hour), false},
		"never by default":                     {released().With(silent), due.Add(1e6 * time.Hour), false},
		"not before a longer life is over":     {released().Living(120_000), due, false},
		"not before the driver is released":    {released().With(retained), due.Add(time.Hour), false},
		"not while another attempt may follow": {released().With(restarting), due.Add(time.Hour), false},
		"not without record":                   {released().With(func(a *sparkv1.SparkApplication) { a.Status.Firesteel = nil }), due, false},
		"not if it cannot be decoded":          {released().With(func(a *sparkv1.SparkApplication) { a.Undecodable = "no" }), due, false},
		"not if it is being deleted already":   {released().With(deleting), due, false},
	} {
		t.Run(name, func(t *testing.T) {
			client := fake.NewSimpleClientset(test.app.Obj())
			if err := handle(t, client, test.now, pi); err != nil {
				t.Fatal(err)
			}
			var want []metav1.Preconditions
			if test.deletes {
				want = []metav1.Preconditions{precondition("17")}
			}
			if diff := cmp.Diff(want, deletions(client)); diff != "" {
				t.Errorf("deletions (-want +got):\n%s", diff)
			}
		})
	}
}

func silent(app *sparkv1.SparkApplication) { app.Spec.ApplicationTolerations = nil }

func retained(app *sparkv1.SparkApplication) {
	app.Status.Firesteel.Transitions[1].State = string(lifecycle.TerminatedWithoutReleaseResources)
}

func restarting(app *sparkv1.SparkApplication) {
	app.Status.Firesteel.Transitions[1].State = string(lifecycle.ScheduledToRestart)
}

func deleting(app *sparkv1.SparkApplication) { app.DeletionTimestamp = &metav1.Time{Time: ended} }

func TestOtherObjectsAreIgnored(t *testing.T) {
	reborn, elsewhere, others, cluster := pi, pi, pi, pi
	reborn.UID = "uid-of-another"
	elsewhere.Name = "another"
	others.Group = "spark.example.com"
	cluster.Resource, cluster.Kind = "sparkclusters", "SparkCluster"
	for name, test := range map[string]struct {
		about events.Object
		calls int // of the API server
	}{
		"of another API":           {others, 0},
		"of another kind":          {cluster, 0},
		"that is deleted":          {elsewhere, 1},
		"that had the name before": {reborn, 1},
	} {
		t.Run(name, func(t *testing.T) {
			client := fake.NewSimpleClientset(released().Obj())
			if err := handle(t, client, due, test.about); err != nil {
				t.Fatal(err)
			}
			if len(deletions(client)) > 0 || len(client.Actions()) != test.calls {
				t.Errorf("the API server was asked %v, want %d reads", client.Actions(), test.calls)
			}
		})
	}
}

func TestSettingsAreFollowed(t *testing.T) {
	inherits := func(a *sparkv1.SparkApplication) {
		unsaid := int64(-1) // as the API server writes it
		a.Spec.ApplicationTolerations.TTLAfterStopMillis = &unsaid
	}
	const tolerations = "applicationTolerations"
	for name, test := range map[string]struct {
		configMap, key, value string
		deletes               bool
	}{
		"the default time to live is the application's": {config.DefaultsName, tolerations, "ttlAfterStopMillis: 60000", true},
		"and not over before its time":                  {config.DefaultsName, tolerations, "ttlAfterStopMillis: 120000", false},
		"without one it lives for ever":                 {config.DefaultsName, "image", "ours", false},
	} {
		t.Run(name, func(t *testing.T) {
			client := fake.NewSimpleClientset(released().With(inherits).Obj())
			if got := expires(t, client, test.configMap, test.key, test.value); got != test.deletes {
				t.Errorf("deleted: %t, want %t", got, test.deletes)
			}
		})
	}
	t.Run("another installation's application is let be", func(t *testing.T) {
		if expires(t, fake.NewSimpleClientset(released().Obj()), config.ScopeName, "watched-namespaces", "team-b") {
			t.Error("it was deleted")
		}
	})
}

// expires reports whether the handler deletes the application with a setting.
func expires(t *testing.T, client *fake.Clientset, configMap, key, value string) bool {
	t.Helper()
	store := config.NewStore(logtesting.TestLogger(t), func(*config.Config, *config.Config) {}, nil)
	store.OnConfigChanged(&corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: configMap}, Data: map[string]string{key: value},
	})
	handler := ttl.NewHandler(client, store.Load, nil, clocktesting.NewFakePassiveClock(due))
	if err := handler(context.Background(), expiredEvent(t, pi)); err != nil {
		t.Fatal(err)
	}
	return len(deletions(client)) > 0
}

func TestDuplicatesDoNothing(t *testing.T) {
	client := fake.NewSimpleClientset(released().Obj())
	for range 3 {
		if err := handle(t, client, due, pi); err != nil {
			t.Fatal(err)
		}
	}
	if sent := deletions(client); len(sent) != 1 {
		t.Errorf("three events, and %d deletions", len(sent))
	}
}

func TestForgedEventsArePermanentErrors(t *testing.T) {
	client := fake.NewSimpleClientset(released().Obj())
	event := expiredEvent(t, pi)
	event.SetSubject("team-a/another")
	err := ttl.NewHandler(client, config.Default, nil, clocktesting.NewFakePassiveClock(due))(context.Background(), event)
	if !events.IsPermanent(err) || len(client.Actions()) > 0 {
		t.Errorf("error is %v, and the API server was asked %v", err, client.Actions())
	}
}

// A user may have set a longer time to live at the last moment.
func TestConflictsAreRetriedWithAFreshRead(t *testing.T) {
	for name, test := range map[string]struct {
		meanwhile *application
		want      []metav1.Preconditions
	}{
		"and deleted if it is still due":            {released(), []metav1.Preconditions{precondition("17"), precondition("18")}},
		"and skipped if its time to live is longer": {released().Living(120_000), []metav1.Preconditions{precondition("17")}},
		"and skipped if it was created again":       {released().With(func(a *sparkv1.SparkApplication) { a.UID = "another" }), []metav1.Preconditions{precondition("17")}},
	} {
		t.Run(name, func(t *testing.T) {
			client := fake.NewSimpleClientset(released().Obj())
			tries := 0
			client.PrependReactor("delete", "sparkapplications", func(clienttesting.Action) (bool, runtime.Object, error) {
				if tries++; tries > 1 {
					return false, nil, nil
				}
				newer := test.meanwhile.Obj()
				newer.ResourceVersion = "18"
				resource := sparkv1.SchemeGroupVersion.WithResource("sparkapplications")
				if err := client.Tracker().Update(resource, newer, newer.Namespace); err != nil {
					t.Error(err)
				}
				return true, nil, apierrors.NewConflict(resource.GroupResource(), "pi", errors.New("changed"))
			})
			if err := handle(t, client, due, pi); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, deletions(client)); diff != "" {
				t.Errorf("deletions (-want +got):\n%s", diff)
			}
		})
	}
}

func TestErrorsOfTheAPIServer(t *testing.T) {
	resource := sparkv1.Resource("sparkapplications")
	for name, test := range map[string]struct {
		verb      string
		err       error
		comesBack bool
	}{
		"a read that has to wait comes back":     {"get", apierrors.NewTooManyRequests("later", 1), true},
		"a deletion that has to wait comes back": {"delete", apierrors.NewTooManyRequests("later", 1), true},
		"a deletion that came too late is done":  {"delete", apierrors.NewNotFound(resource, "pi"), false},
	} {
		t.Run(name, func(t *testing.T) {
			client := fake.NewSimpleClientset(released().Obj())
			client.PrependReactor(test.verb, "sparkapplications", func(clienttesting.Action) (bool, runtime.Object, error) {
				return true, nil, test.err
			})
			err := handle(t, client, due, pi)
			if errors.Is(err, test.err) != test.comesBack || events.IsPermanent(err) || !test.comesBack && err != nil {
				t.Errorf("error is %v", err)
			}
		})
	}
}
