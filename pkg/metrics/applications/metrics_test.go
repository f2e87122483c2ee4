package applications

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/metrics/metricstest"
)

// counted are two applications that ended, and one that waits.
type counted struct{}

func (counted) Count() map[string]int64 { return map[string]int64{"Succeeded": 2} }

func (counted) CountNamespaces(count func(namespace, phase string, applications int64)) {
	count("team-a", "Ended", 2)
	count("team-b", "Waiting", 1)
}

func (counted) LongestWaits() map[string]time.Duration {
	return map[string]time.Duration{"DriverRequested": 90 * time.Second}
}

func TestApplicationTransitionsAreCountedOnceWithTheirDuration(t *testing.T) {
	reader := metricstest.NewReader()
	m, err := New(reader.Provider(), "scope", counted{})
	if err != nil {
		t.Fatal(err)
	}
	start := time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)
	record := &v1alpha1.Record{Transitions: []v1alpha1.Transition{
		{Sequence: 1, State: "Submitted", Time: metav1.NewMicroTime(start)},
		{Sequence: 2, State: "DriverRequested", Time: metav1.NewMicroTime(start.Add(3 * time.Second))},
		{Sequence: 3, State: "Failed", Time: metav1.NewMicroTime(start.Add(5 * time.Second))},
	}}
	m.CountTransitions("team-a", record, 1)
	m.CountTransitions("team-a", record, 3)
	m.RecordDetection("DriverRequested", time.Second)
	want := map[string]float64{
		"firesteel.applications firesteel.state=Succeeded":                                                      2,
		"firesteel.application.wait.longest firesteel.state=DriverRequested":                                    90,
		"firesteel.application.transitions firesteel.state=DriverRequested":                                     1,
		"firesteel.application.transition.duration count firesteel.from=Submitted,firesteel.to=DriverRequested": 1,
		"firesteel.application.transition.duration sum firesteel.from=Submitted,firesteel.to=DriverRequested":   3,
		"firesteel.application.transitions firesteel.state=Failed":                                              1,
		"firesteel.application.transition.duration count firesteel.from=DriverRequested,firesteel.to=Failed":    1,
		"firesteel.application.transition.duration sum firesteel.from=DriverRequested,firesteel.to=Failed":      2,
		"firesteel.namespace.attempts.ended firesteel.state=Failed,k8s.namespace.name=team-a":                   1,
		"firesteel.namespace.applications firesteel.phase=Ended,k8s.namespace.name=team-a":                      2,
		"firesteel.namespace.applications firesteel.phase=Waiting,k8s.namespace.name=team-b":                    1,
		"firesteel.application.detection.duration count firesteel.to=DriverRequested":                           1,
		"firesteel.application.detection.duration sum firesteel.to=DriverRequested":                             1,
	}
	if diff := cmp.Diff(want, reader.Values(t)); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
}
