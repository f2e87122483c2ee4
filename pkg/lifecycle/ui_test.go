package lifecycle_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	. "github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

func TestTransitionsHaveTheAddressOfTheUIWhileTheDriverRuns(t *testing.T) {
	const host = "192.0.2.7"
	for name, test := range map[string]struct {
		ui   UI
		want string
	}{
		"no Service":                {},
		"a Service":                 {UI{Port: 4040, Host: "10.0.0.7"}, "10.0.0.7:4040"},
		"the driver's node":         {UI{Port: 30123}, host + ":30123"},
		"a name of the nodes":       {UI{Port: 30123, Host: "nodes.example.com"}, "nodes.example.com:30123"},
		"a route":                   {UI{Port: 4040, Host: "10.0.0.7", URL: "https://pi.example.com"}, "https://pi.example.com"},
		"a route without a Service": {UI{URL: "https://pi.example.com"}, ""},
		"a URL that is too long":    {UI{Port: 4040, Host: "10.0.0.7", URL: "https://" + strings.Repeat("a", 505)}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			record, _ := Decide(submitted().Fenced().Obj(), plain(), Observation{Launched: driverUID, UI: test.ui}, at(time.Second))
			record, _ = Decide(record, plain(), Observation{Driver: &Driver{Host: host}}, at(2*time.Second))
			record, _ = Decide(record, plain(), Observation{Driver: &Driver{Host: host, Started: true, Ready: true}}, at(3*time.Second))
			record, _ = Decide(record, plain(), Observation{Driver: ended(Succeeded, Cause{})}, at(4*time.Second))
			for _, transition := range record.Transitions {
				runs := slices.Contains([]State{DriverStarted, DriverReady, RunningHealthy}, State(transition.State))
				if want := map[bool]string{true: test.want}[runs]; transition.UIAddress != want {
					t.Errorf("%s has the address %q, want %q", transition.State, transition.UIAddress, want)
				}
			}
			if len(record.Transitions) < 6 {
				t.Errorf("the history is %q", describe(record.Transitions))
			}
		})
	}
}

func TestHostOfAUIIsWrittenWithATransitionOnly(t *testing.T) {
	record := submitted().Requested().With(func(r *v1alpha1.Record) { r.Launch.UIPort = 30123 }).Obj()
	_, decision := Decide(record, plain(), Observation{Driver: &Driver{Host: "192.0.2.7"}}, at(time.Second))
	if decision.Changed {
		t.Error("the host alone costs a write")
	}
}
