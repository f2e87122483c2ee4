package integration

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
)

// If no driver is left, no condition reports a retained one.
func TestRetentionConditionNamesNoDriverThatIsGone(t *testing.T) {
	t.Parallel()
	untilNothingIsKept := func(s *env) {
		s.Helper()
		until(s, s.kubeflowApps(), "spark-pi", "keep nothing", func(app *v1beta2.SparkApplication) bool {
			c := meta.FindStatusCondition(app.Status.Conditions, dialect.ConditionResourcesReleased)
			return c != nil && c.Status == metav1.ConditionTrue && c.Reason == "NothingRetained" && !strings.Contains(c.Message, "is kept")
		})
	}
	for name, test := range map[string]func(s *env){
		"since its service account does not exist": func(s *env) {
			s.kubeflowApplication(strings.Replace(sparkPi("4.1.1"), "serviceAccount: default", "serviceAccount: nobody", 1))
			s.untilShown("spark-pi", v1beta2.FailedState)
			untilNothingIsKept(s)
		},
		"since its spec is refused": func(s *env) {
			s.kubeflowApplication(withSpec(s, sparkPi("4.1.1"), "sparkConf: {spark.kubernetes.memoryOverheadFactor: much}"))
			s.untilShown("spark-pi", v1beta2.FailedState)
			untilNothingIsKept(s)
		},
		"since a user deleted it while it ran": func(s *env) {
			s.kubeflowApplication(sparkPi("4.1.1"))
			d := s.runPi()
			s.must(s.Kube.CoreV1().Pods(s.ns).Delete(s.Context(), d.Name, *metav1.NewDeleteOptions(0)))
			s.untilShown("spark-pi", v1beta2.FailedState)
			untilNothingIsKept(s)
		},
		"since a user deleted it after its end": func(s *env) {
			s.kubeflowApplication(sparkPi("4.1.1"))
			d := s.runPi().succeed()
			s.untilShown("spark-pi", v1beta2.CompletedState)
			until(s, s.kubeflowApps(), "spark-pi", "keep its driver", func(app *v1beta2.SparkApplication) bool {
				return meta.IsStatusConditionFalse(app.Status.Conditions, dialect.ConditionResourcesReleased)
			})
			s.must(s.Kube.CoreV1().Pods(s.ns).Delete(s.Context(), d.Name, metav1.DeleteOptions{}))
			untilNothingIsKept(s)
		},
		"of the Apache kind": func(s *env) {
			s.limit("pods", "0")
			s.create(App("pi").Retain(sparkv1.RetainAlways))
			s.untilCondition("pi", dialect.ConditionResourcesReleased, metav1.ConditionTrue, "NothingRetained")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(newEnv(t).sharesController())
		})
	}
}

// The work queue may merge the request of an executor's change with an earlier one, which is reconciled too early for it.
func TestExecutorsChangeIsShownWithoutAnotherChange(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	s.kubeflowApplication(sparkPi("4.1.1"))
	d := s.runPi()
	untilTold := func(executor *driver) {
		s.Helper()
		until(s, s.kubeflowApps(), "spark-pi", "tell of "+executor.Name, func(app *v1beta2.SparkApplication) bool {
			return app.Status.ExecutorState[executor.Name] != ""
		})
	}
	s.requestsAtRest()
	first := d.kubeflowExecutor(1)
	_, err := s.kubectl("", "annotate", "sparkapplications.sparkoperator.k8s.io/spark-pi", "example.org/touched=now") // a look before that which the executor asks for
	s.must(err)
	untilTold(first)
	began := time.Now()
	untilTold(d.kubeflowExecutor(2))
	if late := time.Since(began); late > 15*time.Second {
		t.Errorf("the event of the second executor came after %s", late)
	}
}
