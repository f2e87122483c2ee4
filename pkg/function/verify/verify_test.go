package verify_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	cloudevents "github.com/cloudevents/sdk-go/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/events"
	"github.com/firesteel-dev/firesteel/pkg/function/verify"
)

var pi = events.Object{
	Group: "spark.apache.org", Resource: "sparkapplications", Kind: "SparkApplication",
	Namespace: "team-a", Name: "pi", UID: "uid-of-pi",
}

var failure = v1alpha1.Transition{
	Sequence: 2, Time: metav1.NewMicroTime(time.Date(2026, 3, 1, 8, 0, 0, 123456000, time.UTC)), State: "Failed",
	End: &v1alpha1.AttemptEnd{Outcome: v1alpha1.OutcomeFailed, RestartAllowed: true, Reason: "Error"},
}

// cluster is an API server that has pi, and a verifier that asks it.
func cluster(t *testing.T, answer int) *verify.Verifier {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case answer != http.StatusOK:
			w.WriteHeader(answer)
		case r.Method != http.MethodGet || r.Header.Get("Authorization") != "Bearer of a token" ||
			r.URL.Path != "/apis/spark.apache.org/v1/namespaces/team-a/sparkapplications/pi":
			w.WriteHeader(http.StatusNotFound)
		default:
			app := sparkv1.SparkApplication{TypeMeta: metav1.TypeMeta{Kind: "SparkApplication"}}
			app.Name, app.Namespace, app.UID = pi.Name, pi.Namespace, pi.UID
			app.Status.Firesteel = &v1alpha1.Record{Sequence: 2, Transitions: []v1alpha1.Transition{failure}}
			if err := json.NewEncoder(w).Encode(app); err != nil {
				t.Error(err)
			}
		}
	}))
	t.Cleanup(server.Close)
	v, err := verify.New(&rest.Config{Host: server.URL, BearerToken: "of a token"})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestAnEventHoldsIfTheRecordOfItsObjectHasIt(t *testing.T) {
	eventOf := func(o events.Object, change func(*v1alpha1.Transition)) cloudevents.Event {
		transition := *failure.DeepCopy()
		change(&transition)
		event, err := events.NewTransitionEvent(o, transition)
		if err != nil {
			t.Fatal(err)
		}
		return event
	}
	expired := func(o events.Object, at time.Time) cloudevents.Event {
		event, err := events.NewExpiredEvent(o, at)
		if err != nil {
			t.Fatal(err)
		}
		return event
	}
	as := func(event cloudevents.Event, change func(*cloudevents.Event)) cloudevents.Event {
		change(&event)
		return event
	}
	same := func(*v1alpha1.Transition) {}
	earlier, other, elsewhere := pi, pi, pi
	earlier.UID, other.Name, elsewhere.Group = "uid-of-another", "po", "example.org"
	v := cluster(t, http.StatusOK)
	for name, test := range map[string]struct {
		event cloudevents.Event
		want  bool
	}{
		"a true event":                           {eventOf(pi, same), true},
		"a true event with a broker's extension": {as(eventOf(pi, same), func(e *cloudevents.Event) { e.SetExtension("knativearrivaltime", "now") }), true},
		"an earlier uid":                         {eventOf(earlier, same), false},
		"an application that does not exist":     {eventOf(other, same), false},
		"another API":                            {eventOf(elsewhere, same), false},
		"a transition that is not recorded":      {eventOf(pi, func(t *v1alpha1.Transition) { t.Sequence = 3 }), false},
		"another state":                          {eventOf(pi, func(t *v1alpha1.Transition) { t.State = "DriverEvicted" }), false},
		"another attempt":                        {eventOf(pi, func(t *v1alpha1.Transition) { t.Attempt = 1 }), false},
		"another end":                            {eventOf(pi, func(t *v1alpha1.Transition) { t.End.RestartAllowed = false }), false},
		"other data":                             {eventOf(pi, func(t *v1alpha1.Transition) { t.Message = "pay here" }), false},
		"another id":                             {as(eventOf(pi, same), func(e *cloudevents.Event) { e.SetID("x") }), false},
		"a transition that is falsely final":     {eventOf(pi, func(t *v1alpha1.Transition) { t.Outcome = v1alpha1.OutcomeFailed }), false},
		"a type that is not Firesteel's":         {as(eventOf(pi, same), func(e *cloudevents.Event) { e.SetType("dev.other") }), false},
		"an instant that was":                    {expired(pi, time.Now().Add(-time.Minute)), true},
		"an instant that is to come":             {expired(pi, time.Now().Add(time.Hour)), false},
		"an instant of another":                  {expired(earlier, time.Now().Add(-time.Minute)), false},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := v.Holds(t.Context(), test.event); err != nil || got != test.want {
				t.Errorf("Holds = %t, %v, want %t", got, err, test.want)
			}
		})
	}
}

func TestHoldsRefusesEventsOfOtherForm(t *testing.T) {
	event, err := events.NewTransitionEvent(pi, failure)
	if err != nil {
		t.Fatal(err)
	}
	event.SetSource("/apis/../../secrets")
	if _, err := cluster(t, http.StatusOK).Holds(t.Context(), event); !events.IsPermanent(err) {
		t.Errorf("the error is %v, want a permanent one", err)
	}
}

func TestHoldsReportsAnUnreachableAPIServer(t *testing.T) {
	event, err := events.NewTransitionEvent(pi, failure)
	if err != nil {
		t.Fatal(err)
	}
	for _, status := range []int{http.StatusServiceUnavailable, http.StatusTooManyRequests, http.StatusForbidden} {
		if holds, err := cluster(t, status).Holds(t.Context(), event); holds || err == nil || events.IsPermanent(err) {
			t.Errorf("with %d Holds = %t, %v", status, holds, err)
		}
	}
}
