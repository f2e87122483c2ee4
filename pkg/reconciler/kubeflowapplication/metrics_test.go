package kubeflowapplication

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	clocktesting "k8s.io/utils/clock/testing"
	"knative.dev/pkg/controller"
	logtesting "knative.dev/pkg/logging/testing"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/metrics/metricstest"
)

// leader leads the applications of a name.
type leader string

func (l leader) IsLeaderFor(app types.NamespacedName) bool { return app.Name == string(l) }
func (leader) Reconcile(context.Context, string) error     { return nil }

func TestMetricsCountApplicationsThatTheReplicaLeads(t *testing.T) {
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	app := func(namespace, name string) *v1beta2.SparkApplication {
		return &v1beta2.SparkApplication{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, CreationTimestamp: metav1.NewTime(start)},
			Status:     v1beta2.SparkApplicationStatus{AppState: v1beta2.ApplicationState{State: v1beta2.RunningState}},
		}
	}
	store := cache.NewStore(cache.MetaNamespaceKeyFunc)
	for _, each := range []*v1beta2.SparkApplication{app("team-a", "pi"), app("team-a", "anothers"), app("unserved", "pi")} {
		if err := store.Add(each); err != nil {
			t.Fatal(err)
		}
	}
	registry := prometheus.NewRegistry()
	m := newMetrics(logtesting.TestContextWithLogger(t), store, nil, clocktesting.NewFakePassiveClock(start.Add(time.Second)))
	m.serve(registry, &controller.Impl{Reconciler: leader("pi")})
	if got := metricstest.Served(t, registry); len(got) != 0 {
		t.Errorf("before the settings are read: %v", got)
	}

	settings := config.Default()
	var err error
	if settings.Scope, err = config.NewScope(&corev1.ConfigMap{Data: map[string]string{"watched-namespaces": "team-a"}}); err != nil {
		t.Fatal(err)
	}
	settings.Kubeflow.Metrics.Prefix, settings.Kubeflow.Metrics.Labels = "data_", []string{"namespace"}
	m.follow(settings)
	before, after := app("team-a", "pi"), app("team-a", "pi")
	before.Status = v1beta2.SparkApplicationStatus{}
	after.Status.Firesteel = &v1alpha1.Record{
		Sequence: 1, Transitions: []v1alpha1.Transition{{Sequence: 1, State: string(lifecycle.DriverRequested)}},
	}
	m.wrote(before, after)
	want := map[string]float64{
		"data_spark_application_count namespace=team-a":         1,
		"data_spark_application_submit_count namespace=team-a":  1,
		"data_spark_application_running_count namespace=team-a": 1,
		"data_spark_executor_running_count namespace=team-a":    0,
	}
	if diff := cmp.Diff(want, metricstest.Served(t, registry)); diff != "" {
		t.Errorf("served (-want +got):\n%s", diff)
	}

	m.follow(settings) // of which something else changed
	if diff := cmp.Diff(want, metricstest.Served(t, registry)); diff != "" {
		t.Errorf("served after another change (-want +got):\n%s", diff)
	}
	if err := store.Delete(app("team-a", "pi")); err != nil {
		t.Fatal(err)
	}
	if got := metricstest.Served(t, registry)["data_spark_application_running_count namespace=team-a"]; got != 0 {
		t.Errorf("%v applications run after it is deleted", got)
	}
}
