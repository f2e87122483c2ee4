package restart_test

import (
	"bytes"
	"context"
	"encoding/json"
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
	logtesting "knative.dev/pkg/logging/testing"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/client/clientset/versioned/fake"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/events"
	"github.com/firesteel-dev/firesteel/pkg/handlers/restart"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// application builds a SparkApplication whose first attempt failed, and whose spec allows another one.
type application struct{ app sparkv1.SparkApplication }

func failed() *application {
	a := &application{}
	a.app.Namespace, a.app.Name, a.app.UID, a.app.ResourceVersion = "team-a", "pi", "uid-of-pi", "17"
	a.app.Spec.ApplicationTolerations = &sparkv1.ApplicationTolerations{
		RestartConfig: &sparkv1.RestartConfig{RestartPolicy: sparkv1.RestartOnFailure},
	}
	a.app.Status.Firesteel = &v1alpha1.Record{
		Attempt: v1alpha1.Attempt{Since: metav1.NewMicroTime(start)}, Sequence: 2,
		Transitions: []v1alpha1.Transition{
			{Sequence: 1, Time: metav1.NewMicroTime(start), State: string(lifecycle.Submitted)},
			{
				Sequence: 2, Time: metav1.NewMicroTime(start.Add(time.Minute)), State: string(lifecycle.Failed),
				End: &v1alpha1.AttemptEnd{Outcome: v1alpha1.OutcomeFailed, RestartAllowed: true},
			},
		},
	}
	return a
}

func (a *application) With(change func(*sparkv1.SparkApplication)) *application {
	change(&a.app)
	return a
}

func (a *application) Obj() *sparkv1.SparkApplication { return a.app.DeepCopy() }

var pi = events.Object{
	Group: "spark.apache.org", Resource: "sparkapplications", Kind: "SparkApplication",
	Namespace: "team-a", Name: "pi", UID: "uid-of-pi",
}

// endEvent returns the event that requests the verdict.
func endEvent(t *testing.T, object events.Object) cloudevents.Event {
	t.Helper()
	event, err := events.NewTransitionEvent(object, failed().app.Status.Firesteel.Transitions[1])
	if err != nil {
		t.Fatal(err)
	}
	return event
}

// patch is a patch of the handler: a verdict, and nothing else of the status.
type patch struct {
	Metadata struct {
		ResourceVersion string `json:"resourceVersion"`
	} `json:"metadata"`
	Status struct {
		Firesteel struct {
			Verdict v1alpha1.Verdict `json:"verdict"`
		} `json:"firesteel"`
	} `json:"status"`
}

// writes returns the patches that were sent to the API server.
func writes(t *testing.T, client *fake.Clientset) []patch {
	t.Helper()
	var sent []patch
	for _, action := range client.Actions() {
		if action.GetVerb() == "get" {
			continue
		}
		did, ok := action.(clienttesting.PatchAction)
		if !ok || did.GetPatchType() != types.MergePatchType || did.GetSubresource() != "status" {
			t.Fatalf("the API server was asked to %s %s/%s", action.GetVerb(), action.GetResource().Resource, action.GetSubresource())
		}
		var p patch
		decoder := json.NewDecoder(bytes.NewReader(did.GetPatch()))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&p); err != nil {
			t.Fatalf("%s: %v", did.GetPatch(), err)
		}
		sent = append(sent, p)
	}
	return sent
}

func TestTheVerdictFollowsTheRestartPolicy(t *testing.T) {
	due := metav1.NewMicroTime(start.Add(time.Minute + 30*time.Second))
	for name, test := range map[string]struct {
		app  *application
		want v1alpha1.Verdict
	}{
		"another attempt, not before the back-off is over": {
			failed(), v1alpha1.Verdict{Restart: true, NotBefore: &due, Reason: "Restart policy OnFailure covers Failed."},
		},
		"none if the policy was edited meanwhile": {
			failed().With(func(app *sparkv1.SparkApplication) {
				app.Spec.ApplicationTolerations.RestartConfig.RestartPolicy = sparkv1.RestartNever
			}),
			v1alpha1.Verdict{Reason: "Restart policy Never does not cover Failed."},
		},
	} {
		t.Run(name, func(t *testing.T) {
			client := fake.NewSimpleClientset(test.app.Obj())
			if err := restart.NewHandler(client, config.Default, nil)(context.Background(), endEvent(t, pi)); err != nil {
				t.Fatal(err)
			}
			var want patch
			want.Metadata.ResourceVersion, want.Status.Firesteel.Verdict = "17", test.want
			if diff := cmp.Diff([]patch{want}, writes(t, client)); diff != "" {
				t.Errorf("written, with the resourceVersion that was read (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEventsOfOtherOrOutdatedObjectsGiveNoVerdict(t *testing.T) {
	reborn := pi
	reborn.UID = "uid-of-another"
	elsewhere := pi
	elsewhere.Name = "another"
	others := pi
	others.Group = "spark.example.com"
	cluster := pi
	cluster.Resource, cluster.Kind = "sparkclusters", "SparkCluster"
	for name, test := range map[string]struct {
		app   *application
		about events.Object
		calls int // of the API server
	}{
		"for an event of another API":            {failed(), others, 0},
		"for an event of another kind":           {failed(), cluster, 0},
		"for a deleted application":              {failed(), elsewhere, 1},
		"for an earlier one of the same name":    {failed(), reborn, 1},
		"for one that is being deleted":          {failed().With(deleting), pi, 1},
		"for one that cannot be decoded":         {failed().With(func(a *sparkv1.SparkApplication) { a.Undecodable = "no" }), pi, 1},
		"for one without record":                 {failed().With(func(a *sparkv1.SparkApplication) { a.Status.Firesteel = nil }), pi, 1},
		"for one that still runs":                {failed().With(running), pi, 1},
		"for an end that the spec says is final": {failed().With(final), pi, 1},
		"a second time":                          {failed().With(answered), pi, 1},
	} {
		t.Run(name, func(t *testing.T) {
			client := fake.NewSimpleClientset(test.app.Obj())
			if err := restart.NewHandler(client, config.Default, nil)(context.Background(), endEvent(t, test.about)); err != nil {
				t.Fatal(err)
			}
			if sent := writes(t, client); len(sent) > 0 || len(client.Actions()) != test.calls {
				t.Errorf("the API server was asked %v, want %d reads", client.Actions(), test.calls)
			}
		})
	}
}

func TestSettingsAreFollowed(t *testing.T) {
	silent := failed().With(func(app *sparkv1.SparkApplication) { app.Spec.ApplicationTolerations = nil })
	for name, test := range map[string]struct {
		configMap, key, value string
		restarts, writes      int
	}{
		"the default restart policy is the application's": {
			config.DefaultsName, "applicationTolerations", "restartConfig: {restartPolicy: Always}", 1, 1,
		},
		"without one there is no other attempt":          {config.DefaultsName, "image", "ours", 0, 1},
		"another installation's application is let be":   {config.ScopeName, "watched-namespaces", "team-b", 0, 0},
		"what the selector does not select is let be":    {config.ScopeName, "label-selector", "team=a", 0, 0},
		"what is served among others is judged as usual": {config.ScopeName, "watched-namespaces", "team-a,team-b", 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			client := fake.NewSimpleClientset(silent.Obj())
			store := config.NewStore(logtesting.TestLogger(t), func(*config.Config, *config.Config) {}, nil)
			store.OnConfigChanged(&corev1.ConfigMap{
				ObjectMeta: metav1.ObjectMeta{Name: test.configMap}, Data: map[string]string{test.key: test.value},
			})
			if err := restart.NewHandler(client, store.Load, nil)(context.Background(), endEvent(t, pi)); err != nil {
				t.Fatal(err)
			}
			sent, restarts := writes(t, client), 0
			for _, app := range sent {
				if app.Status.Firesteel.Verdict.Restart {
					restarts++
				}
			}
			if len(sent) != test.writes || restarts != test.restarts {
				t.Errorf("%d verdicts and %d restarts, want %d and %d", len(sent), restarts, test.writes, test.restarts)
			}
		})
	}
}

func deleting(app *sparkv1.SparkApplication) { app.DeletionTimestamp = &metav1.Time{Time: start} }

func running(app *sparkv1.SparkApplication) {
	app.Status.Firesteel.Transitions[1].State = string(lifecycle.RunningHealthy)
	app.Status.Firesteel.Transitions[1].End = nil
}

func final(app *sparkv1.SparkApplication) {
	app.Status.Firesteel.Transitions[1].End.RestartAllowed = false
}

func answered(app *sparkv1.SparkApplication) {
	app.Status.Firesteel.Verdict = &v1alpha1.Verdict{Reason: "mine"}
}

func TestDuplicatesDoNothing(t *testing.T) {
	client := fake.NewSimpleClientset(failed().Obj())
	handle := restart.NewHandler(client, config.Default, nil)
	for range 3 {
		if err := handle(context.Background(), endEvent(t, pi)); err != nil {
			t.Fatal(err)
		}
	}
	if sent := writes(t, client); len(sent) != 1 {
		t.Errorf("three events, and %d writes", len(sent))
	}
}

func TestForgedEventsArePermanentErrors(t *testing.T) {
	for name, forge := range map[string]func(*cloudevents.Event){
		"without a source of ours":      func(event *cloudevents.Event) { event.SetSource("/another/system") },
		"that contradicts its source":   func(event *cloudevents.Event) { event.SetSubject("team-a/another") },
		"that contradicts its own name": func(event *cloudevents.Event) { event.SetExtension(events.ExtensionName, "another") },
	} {
		t.Run(name, func(t *testing.T) {
			client := fake.NewSimpleClientset(failed().Obj())
			event := endEvent(t, pi)
			forge(&event)
			if err := restart.NewHandler(client, config.Default, nil)(context.Background(), event); !events.IsPermanent(err) {
				t.Errorf("error is %v, and an event that can never work would be sent again", err)
			}
			if len(client.Actions()) > 0 {
				t.Errorf("the API server was asked %v", client.Actions())
			}
		})
	}
}

// The application changes between the read and the write. The handler must decide from the new version.
func TestConflictsAreRetriedWithAFreshRead(t *testing.T) {
	for name, test := range map[string]struct {
		meanwhile func(*sparkv1.SparkApplication)
		want      []string // the resourceVersions that were written with
	}{
		"and written if nothing relevant changed":  {func(*sparkv1.SparkApplication) {}, []string{"17", "18"}},
		"and skipped if another verdict was given": {answered, []string{"17"}},
	} {
		t.Run(name, func(t *testing.T) {
			client := fake.NewSimpleClientset(failed().Obj())
			tries := 0
			client.PrependReactor("patch", "sparkapplications", func(clienttesting.Action) (bool, runtime.Object, error) {
				if tries++; tries > 1 {
					return false, nil, nil
				}
				newer := failed().With(test.meanwhile).Obj()
				newer.ResourceVersion = "18"
				resource := sparkv1.SchemeGroupVersion.WithResource("sparkapplications")
				if err := client.Tracker().Update(resource, newer, newer.Namespace); err != nil {
					t.Error(err)
				}
				return true, nil, apierrors.NewConflict(resource.GroupResource(), "pi", errors.New("changed"))
			})
			if err := restart.NewHandler(client, config.Default, nil)(context.Background(), endEvent(t, pi)); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, app := range writes(t, client) {
				got = append(got, app.Metadata.ResourceVersion)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("writes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestErrorsOfTheAPIServerAreReturned(t *testing.T) {
	for _, verb := range []string{"get", "patch"} {
		t.Run(verb, func(t *testing.T) {
			client := fake.NewSimpleClientset(failed().Obj())
			client.PrependReactor(verb, "sparkapplications", func(clienttesting.Action) (bool, runtime.Object, error) {
				return true, nil, apierrors.NewTooManyRequests("later", 1)
			})
			err := restart.NewHandler(client, config.Default, nil)(context.Background(), endEvent(t, pi))
			if !apierrors.IsTooManyRequests(err) || events.IsPermanent(err) {
				t.Errorf("error is %v, want one that has the event sent again", err)
			}
		})
	}
}

// Fields of an earlier verdict must not remain in the new one. Other fields of the record, also those of a newer version of Firesteel,
// must stay.
func TestVerdictReplacesOnlyTheOldVerdict(t *testing.T) {
	app := failed().With(func(app *sparkv1.SparkApplication) {
		app.Spec.ApplicationTolerations.RestartConfig.RestartPolicy = sparkv1.RestartNever
		record := app.Status.Firesteel
		record.Unknown, record.Attempt.Unknown = `{"newer":1}`, `{"newer":2}`
		record.Verdict = &v1alpha1.Verdict{Attempt: -1, Restart: true, NotBefore: &metav1.MicroTime{Time: start}, Unknown: `{"newer":3}`}
	}).Obj()
	client := fake.NewSimpleClientset(app)
	if err := restart.NewHandler(client, config.Default, nil)(context.Background(), endEvent(t, pi)); err != nil {
		t.Fatal(err)
	}
	want := app.DeepCopy()
	want.Status.Firesteel.Verdict = &v1alpha1.Verdict{Reason: "Restart policy Never does not cover Failed.", Unknown: `{"newer":3}`}
	got, err := client.SparkV1().SparkApplications("team-a").Get(t.Context(), "pi", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want.Status, got.Status); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
}

// The meaning of a newer format is unknown.
func TestVerdictIsNotGivenOnARecordOfANewerFormat(t *testing.T) {
	app := failed().With(func(app *sparkv1.SparkApplication) { app.Status.Firesteel.Format = v1alpha1.Format + 1 }).Obj()
	app.Status.Firesteel.Unknown = `{"format":2}`
	client := fake.NewSimpleClientset(app)
	if err := restart.NewHandler(client, config.Default, nil)(context.Background(), endEvent(t, pi)); err != nil || len(writes(t, client)) > 0 {
		t.Errorf("%v: the API server was asked %v", err, client.Actions())
	}
}
