package clusters

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/metrics/metricstest"
)

func TestClusterTransitionsAreCountedOnce(t *testing.T) {
	reader := metricstest.NewReader()
	counts := func() map[string]int64 { return map[string]int64{"RunningHealthy": 2} }
	m, err := New(reader.Provider(), counts)
	if err != nil {
		t.Fatal(err)
	}
	record := &v1alpha1.Record{Transitions: []v1alpha1.Transition{{Sequence: 1, State: "Submitted"}, {Sequence: 2, State: "RunningHealthy"}}}
	m.CountTransitions(record, 0)
	m.CountTransitions(record, 1)
	m.CountTransitions(record, 2)
	want := map[string]float64{
		"firesteel.clusters firesteel.state=RunningHealthy":            2,
		"firesteel.cluster.transitions firesteel.state=Submitted":      1,
		"firesteel.cluster.transitions firesteel.state=RunningHealthy": 2,
	}
	if diff := cmp.Diff(want, reader.Values(t)); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{Scope}, reader.Scopes(t)); diff != "" {
		t.Errorf("scopes (-want +got):\n%s", diff)
	}
}
