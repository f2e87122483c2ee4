package integration

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/dialect"
)

func TestDriverServiceFollowsSettingAndAnnotation(t *testing.T) {
	alone(t)
	s := newEnv(t)
	s.configured("config-defaults", "driver-service", "none")
	s.configured("config-kubeflow", "driver-service", "none")
	process := s.ownController(controllerOf(s))
	expect := func(d *driver, name string, service ...string) {
		t.Helper()
		want := append([]string{"ConfigMap " + name + "-spark-drv-conf-map"}, service...)
		if diff := cmp.Diff(want, s.ownedBy(d.Pod)); diff != "" {
			t.Errorf("objects of the driver (-want +got):\n%s", diff)
		}
		address := false
		for _, variable := range d.Spec.Containers[0].Env {
			address = address || variable.Name == "SPARK_LOCAL_HOSTNAME"
		}
		if address == (len(service) > 0) {
			t.Errorf("%s advertises its address: %t, with the Services %v", d.Name, address, service)
		}
	}
	s.create(App("none"))
	none := s.run("none", 0)
	expect(none, "none-0")
	s.create(App("headless").Annotation(dialect.AnnotationDriverService, "headless"))
	expect(s.run("headless", 0), "headless-0", "Service headless-0-driver-svc")

	s.create(App("wrong").Annotation(dialect.AnnotationDriverService, "cluster").Conf("spark.kubernetes.driver.service.label.team", "a"))
	expect(s.run("wrong", 0), "wrong-0")
	message := s.untilCondition("wrong", "Warning", metav1.ConditionTrue, "SpecNotHonored").Message
	for _, part := range []string{
		`firesteel.dev/driver-service] "cluster" has no effect`, `spec.sparkConf[spark.kubernetes.driver.service.label.team] "a" has no effect`,
		"set the annotation firesteel.dev/driver-service to headless",
	} {
		if !strings.Contains(message, part) {
			t.Errorf("the warning %q does not contain %q", message, part)
		}
	}

	s.kubeflowApplication(strings.Replace(sparkPi("4.1.1"), "  driver:\n", "  driver:\n    serviceLabels: {team: a}\n", 1))
	theirs := s.kubeflowDriver("spark-pi")
	message = s.untilKubeflowCondition("spark-pi", "Warning", metav1.ConditionTrue, "SpecNotHonored").Message
	if part := `spec.driver.serviceLabels[team] (spark.kubernetes.driver.service.label.team) "a" has no effect`; !strings.Contains(message, part) {
		t.Errorf("the warning %q does not contain %q", message, part)
	}
	services, err := s.Kube.CoreV1().Services(s.ns).List(t.Context(), metav1.ListOptions{})
	s.must(err)
	each(services.Items, func(service *corev1.Service) {
		if metav1.IsControlledBy(service, theirs.Pod) && service.Name != "spark-pi-ui-svc" {
			t.Errorf("the driver of spark-pi has the Service %s", service.Name)
		}
	})

	s.configured("config-defaults", "driver-service", "headless")
	s.configured("config-scope", "watched-namespaces", s.ns) // which is read after the other, and logged
	s.untilLogged(process, "Updating operator namespaces to ["+s.ns+"]")
	s.create(App("later"))
	expect(s.run("later", 0), "later-0", "Service later-0-driver-svc")
	if same, err := s.Kube.CoreV1().Pods(s.ns).Get(t.Context(), none.Name, metav1.GetOptions{}); err != nil || same.UID != none.UID {
		t.Errorf("the running driver was touched by the setting: %v, %v", same, err)
	}
}
