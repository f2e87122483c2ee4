package applications

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
)

func TestStateCounterForgetsApplicationsThatAreNotServed(t *testing.T) {
	state, found, served := "", true, true
	c := NewStateCounter(
		func(types.NamespacedName) (dialect.Application, bool) { return &sparkv1.SparkApplication{}, found },
		func(dialect.Application) bool { return served },
		func(dialect.Application) string { return state })
	key := types.NamespacedName{Namespace: "team-a", Name: "pi"}
	for _, step := range []struct {
		name          string
		state         string
		found, served bool
		want          map[string]int64
	}{
		{"not reconciled yet", "", true, true, map[string]int64{"New": 1}},
		{"running", "RunningHealthy", true, true, map[string]int64{"New": 0, "RunningHealthy": 1}},
		{"out of scope", "RunningHealthy", true, false, map[string]int64{"New": 0, "RunningHealthy": 0}},
		{"in the scope again", "RunningHealthy", true, true, map[string]int64{"New": 0, "RunningHealthy": 1}},
		{"deleted", "RunningHealthy", false, true, map[string]int64{"New": 0, "RunningHealthy": 0}},
	} {
		state, found, served = step.state, step.found, step.served
		if _, got := c.Observe(key); got != (found && served) {
			t.Errorf("%s: served %t", step.name, got)
		}
		if diff := cmp.Diff(step.want, c.Count()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.name, diff)
		}
	}
	if len(c.states) != 0 {
		t.Errorf("it still holds %v", c.states)
	}
}
