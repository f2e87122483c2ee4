package application

import (
	"context"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	applicationmetrics "github.com/firesteel-dev/firesteel/pkg/metrics/applications"
	"github.com/firesteel-dev/firesteel/pkg/metrics/metricstest"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/applicationtest"
)

func TestTransitionsAreMeasuredOnce(t *testing.T) {
	reader := metricstest.NewReader()
	i, err := applicationmetrics.New(reader.Provider(), "", newGateEnv(t).lookup.states)
	if err != nil {
		t.Fatal(err)
	}
	r := &Reconciler{metrics: i, podEventTimes: newPodEventTimes(applicationtest.ClockAt(applicationtest.Start))}
	arrival := applicationtest.Start.Add(-time.Second)
	ctx := context.WithValue(context.Background(), podEventTimeKey{}, &arrival)
	after := applicationtest.Pi().Obj()
	for n, state := range []string{"Submitted", "DriverRequested", "DriverStarted"} {
		before := after.DeepCopy()
		if after.Status.Firesteel == nil {
			after.Status.Firesteel = &v1alpha1.Record{}
		}
		record := after.Status.Firesteel
		record.Sequence++
		record.Transitions = append(record.Transitions, v1alpha1.Transition{
			Sequence: record.Sequence, State: state, Time: metav1.NewMicroTime(applicationtest.Start.Add(time.Duration(n*n) * time.Second)),
		})
		r.countTransitions(ctx, before, after)
		r.countTransitions(ctx, after, after) // a write without news
	}
	want := map[string]float64{
		"firesteel.application.transitions firesteel.state=Submitted":                                               1,
		"firesteel.application.transitions firesteel.state=DriverRequested":                                         1,
		"firesteel.application.transitions firesteel.state=DriverStarted":                                           1,
		"firesteel.application.transition.duration sum firesteel.from=Submitted,firesteel.to=DriverRequested":       1,
		"firesteel.application.transition.duration count firesteel.from=Submitted,firesteel.to=DriverRequested":     1,
		"firesteel.application.transition.duration sum firesteel.from=DriverRequested,firesteel.to=DriverStarted":   3,
		"firesteel.application.transition.duration count firesteel.from=DriverRequested,firesteel.to=DriverStarted": 1,
		"firesteel.application.detection.duration sum firesteel.to=Submitted":                                       1,
		"firesteel.application.detection.duration count firesteel.to=Submitted":                                     1,
	}
	got := reader.Values(t)
	maps.DeleteFunc(got, func(series string, _ float64) bool { return strings.HasPrefix(series, "firesteel.application.wait") })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
}
