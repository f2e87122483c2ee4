package dialect_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/settings"
	"github.com/firesteel-dev/firesteel/pkg/policy"
)

var apis = map[string]*dialect.API{"apache": apache.API, "kubeflow": kubeflow.API}

var fewExecutors = policy.Rules{policy.KeyExecutors: "1"}

// ofBothAPIs are applications that ask for many executors, with dialects whose settings allow one.
func ofBothAPIs() map[string]struct {
	dialect.Dialect
	app    dialect.Application
	record func(*v1alpha1.Record)
	edit   func()
} {
	apacheApp := &sparkv1.SparkApplication{ObjectMeta: metav1.ObjectMeta{Name: "pi", Namespace: "a", Generation: 1}}
	apacheApp.Spec.SparkConf = map[string]string{"spark.executor.instances": "50"}
	kubeflowApp := &v1beta2.SparkApplication{ObjectMeta: metav1.ObjectMeta{Name: "pi", Namespace: "a", Generation: 1}}
	kubeflowApp.Spec.SparkConf = map[string]string{"spark.executor.instances": "50"}
	defaults := settings.NewDefaults()
	defaults.Rules = fewExecutors
	return map[string]struct {
		dialect.Dialect
		app    dialect.Application
		record func(*v1alpha1.Record)
		edit   func()
	}{
		"apache": {
			apache.New(apache.Defaults{Settings: dialect.Settings{Rules: fewExecutors}}), apacheApp,
			func(record *v1alpha1.Record) { apacheApp.Status.Firesteel = record },
			func() { apacheApp.Generation, apacheApp.Spec.SparkConf["spark.executor.instances"] = 2, "51" },
		},
		"kubeflow": {
			kubeflow.New(defaults), kubeflowApp,
			func(record *v1alpha1.Record) { kubeflowApp.Status.Firesteel = record },
			func() { kubeflowApp.Generation, kubeflowApp.Spec.SparkConf["spark.executor.instances"] = 2, "51" },
		},
	}
}

func TestRulesRefuseAnApplicationBeforeItsFirstLaunchAndAfterAnEdit(t *testing.T) {
	for name, test := range ofBothAPIs() {
		t.Run(name, func(t *testing.T) {
			refused := func() bool {
				refused := test.Policy(test.app).Refused
				if refused != nil && (refused.Reason != "TooManyExecutors" || !strings.Contains(refused.Message, "spec.sparkConf[spark.executor.instances]")) {
					t.Errorf("it is refused by %v", refused)
				}
				return refused != nil
			}
			if !refused() {
				t.Error("a new application is not refused")
			}
			waiting := &v1alpha1.Record{}
			test.Spec(test.app).Note(waiting)
			test.record(waiting)
			if !refused() {
				t.Error("an application that was not launched is not refused")
			}
			running := waiting.DeepCopy()
			running.Launch = &v1alpha1.Launch{DriverUID: "1"}
			test.record(running)
			if refused() {
				t.Error("a running application is refused")
			}
			retried := &v1alpha1.Record{Previous: &running.Attempt, Attempt: v1alpha1.Attempt{ID: 1, Executions: 1}}
			test.record(retried)
			if refused() {
				t.Error("another attempt of an application that has run is refused")
			}
			for state, record := range map[string]*v1alpha1.Record{"running": running, "waiting for a retry": retried} {
				test.record(record)
				test.edit()
				if !refused() {
					t.Errorf("the edit of an application that is %s is not refused", state)
				}
			}
			if found := dialect.Check(test.Dialect, apis[name], test.app).Found; len(found) == 0 || found[0].Reason != "TooManyExecutors" {
				t.Errorf("Check finds %v", found)
			}
		})
	}
}
