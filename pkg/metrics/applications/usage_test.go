package applications

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/metrics/metricstest"
)

func recordOf(seconds, gap int64) *v1alpha1.Record {
	return &v1alpha1.Record{Usage: &v1alpha1.ApplicationUsage{Total: v1alpha1.Usage{
		Driver: &v1alpha1.PodUsage{Seconds: seconds, CoreMilliseconds: 1500 * seconds, MebibyteSeconds: 2048 * seconds, GPUSeconds: seconds}, GapSeconds: gap,
	}}}
}

func TestUsageIsCountedOnce(t *testing.T) {
	reader := metricstest.NewReader()
	m, err := New(reader.Provider(), "scope", counted{})
	if err != nil {
		t.Fatal(err)
	}
	app := &metav1.ObjectMeta{Namespace: "team-a", Labels: map[string]string{"team": "red"}}
	labels := []string{"team"}
	m.CountUsage("g", app, nil, &v1alpha1.Record{}, labels)
	m.CountUsage("g", app, &v1alpha1.Record{}, recordOf(10, 0), labels)
	m.CountUsage("g", app, recordOf(10, 0), recordOf(30, 5), labels)
	m.CountUsage("g", app, recordOf(30, 5), recordOf(29, 5), labels) // corrected: no counter falls
	got := reader.Values(t)
	for name := range got {
		if !strings.HasPrefix(name, "firesteel.usage.") {
			delete(got, name)
		}
	}
	by := "firesteel.group=g,firesteel.label.team=red,"
	want := map[string]float64{
		"firesteel.usage.pod.seconds " + by + "firesteel.role=driver,k8s.namespace.name=team-a":  30,
		"firesteel.usage.core.seconds " + by + "firesteel.role=driver,k8s.namespace.name=team-a": 45,
		"firesteel.usage.gib.seconds " + by + "firesteel.role=driver,k8s.namespace.name=team-a":  60,
		"firesteel.usage.gpu.seconds " + by + "firesteel.role=driver,k8s.namespace.name=team-a":  30,
		"firesteel.usage.gap.seconds " + by + "k8s.namespace.name=team-a":                        5,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
}

func TestValuesOfUsageLabelsAreBounded(t *testing.T) {
	u := &usage{values: map[string]map[string]bool{}}
	for n := range maxLabelValues {
		u.bounded("team", fmt.Sprint(n))
	}
	if got := u.bounded("team", "one more") + u.bounded("team", "7") + u.bounded("stage", "test"); got != otherValue+"7test" {
		t.Errorf("values are %q", got)
	}
}
