package integration

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
)

// heldBack is a finalizer that no controller removes.
const heldBack = "example.org/held-back"

// templateWith is a template of a Pod that would never go.
func templateWith(finalizer string) *sparkv1.PodSpecTemplate {
	return &sparkv1.PodSpecTemplate{PodTemplateSpec: &corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Finalizers: []string{finalizer}}}}
}

func warns(conditions []metav1.Condition, of ...string) bool {
	c := meta.FindStatusCondition(conditions, dialect.ConditionWarning)
	for _, field := range of {
		if c == nil || c.Status != metav1.ConditionTrue || !strings.Contains(c.Message, field) {
			return false
		}
	}
	return true
}

func TestFinalizersOfPodTemplatesAreDropped(t *testing.T) {
	t.Parallel()
	t.Run("of the Apache kind", func(t *testing.T) {
		t.Parallel()
		s := newEnv(t).sharesController()
		app := App("pi")
		app.app.Spec.DriverSpec, app.app.Spec.ExecutorSpec = templateWith(heldBack), templateWith(heldBack)
		s.create(app)
		d := s.run("pi", 0)
		s.wantNoFinalizer(d)
		if !warns(s.get("pi").Status.Conditions, "spec.driverSpec.podTemplateSpec.metadata.finalizers", "spec.executorSpec.podTemplateSpec.metadata.finalizers") {
			t.Errorf("the warning does not name both fields:\n%s", described(s.get("pi")))
		}
		d.succeed()
		s.untilState("pi", "ResourceReleased")
		s.delete("pi")
		untilGone(s, s.apps(), "pi")
		s.untilNothingIsLeft()
	})
	t.Run("of the Kubeflow kind", func(t *testing.T) {
		t.Parallel()
		s := newEnv(t).sharesController()
		template := "template: {metadata: {finalizers: [" + heldBack + "]}}"
		s.kubeflowApplication(withSpec(s, sparkPi("4.1.1"), "driver: {"+template+"}\nexecutor: {"+template+"}"))
		d := s.runPi()
		s.wantNoFinalizer(d)
		d.succeed()
		app := s.untilShown("spark-pi", v1beta2.CompletedState)
		if !warns(app.Status.Conditions, "spec.driver.template.metadata.finalizers", "spec.executor.template.metadata.finalizers") {
			t.Errorf("the warning does not name both fields:\n%s", described(app))
		}
		s.must(s.kubeflowApps().Delete(t.Context(), "spark-pi", metav1.DeleteOptions{}))
		untilGone(s, s.kubeflowApps(), "spark-pi")
		s.untilNothingIsLeft()
	})
	t.Run("of clusters", func(t *testing.T) {
		t.Parallel()
		s := newEnv(t).sharesController()
		c := Cluster("c")
		set := &appsv1.StatefulSetSpec{Template: *templateWith(heldBack).PodTemplateSpec}
		c.cluster.Spec.MasterSpec, c.cluster.Spec.WorkerSpec = &sparkv1.MasterSpec{StatefulSetSpec: set}, &sparkv1.WorkerSpec{StatefulSetSpec: set}
		s.createCluster(c)
		s.untilOwned(ofPlain("c")...)
		for _, name := range []string{"c-master", "c-worker"} {
			if given := s.statefulSet(name).Spec.Template.Finalizers; len(given) > 0 {
				t.Errorf("the Pods of %s have the finalizers %v", name, given)
			}
		}
		until(s, s.clusters(), "c", "warn", func(c *sparkv1.SparkCluster) bool {
			return warns(c.Status.Conditions, "spec.masterSpec.statefulSetSpec.template.metadata.finalizers",
				"spec.workerSpec.statefulSetSpec.template.metadata.finalizers")
		})
	})
}

// wantNoFinalizer checks that neither a driver has a finalizer, nor the executors that it makes.
func (s *env) wantNoFinalizer(d *driver) {
	s.Helper()
	if len(d.Finalizers) > 0 {
		s.Errorf("the driver has the finalizers %v", d.Finalizers)
	}
	maps, err := s.Kube.CoreV1().ConfigMaps(s.ns).List(s.Context(), metav1.ListOptions{})
	s.must(err)
	for _, configMap := range maps.Items {
		for key, text := range configMap.Data {
			if strings.Contains(text, heldBack) {
				s.Errorf("%s of %s is\n%s", key, configMap.Name, text)
			}
		}
	}
}
