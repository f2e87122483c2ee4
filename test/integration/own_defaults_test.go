package integration

import (
	"context"
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/test/harness/process"
)

// ownDefaults creates or replaces a ConfigMap with defaults of the env's namespace.
func (s *env) ownDefaults(name string, labels, data map[string]string) {
	s.Helper()
	configMap := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}, Data: data}
	configMaps := s.Kube.CoreV1().ConfigMaps(s.ns)
	_, err := configMaps.Create(s.Context(), configMap, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		_, err = configMaps.Update(s.Context(), configMap, metav1.UpdateOptions{})
	}
	s.must(err)
}

var ownDefaultsLabel = map[string]string{config.LabelOwnDefaults: "enabled"}

func (s *env) imageOf(app string) string {
	s.Helper()
	return s.driver(app, 0).Spec.Containers[0].Image
}

// untilDefaultsChanged waits until a controller has followed a number of changes of the namespace's defaults.
func (s *env) untilDefaultsChanged(process *process.Process, times int) {
	s.Helper()
	s.must(wait.PollUntilContextTimeout(s.Context(), pollInterval, timeout, true, func(context.Context) (bool, error) {
		text, err := os.ReadFile(process.Log)
		seen := 0
		for line := range strings.Lines(string(text)) {
			if strings.Contains(line, "defaults of a namespace changed") && strings.Contains(line, `"`+s.ns+`"`) {
				seen++
			}
		}
		return seen >= times, err
	}))
}

func TestDefaultsOfANamespaceApplyToItsLaterLaunches(t *testing.T) {
	alone(t)
	s, other := newEnv(t), newEnv(t)
	s.configured("config-defaults", "image", "example.org/ours")
	s.configured("config-handlers", "ttl", "external")
	s.ownDefaults(config.OwnKubeflowName, nil, map[string]string{"default-time-to-live": "1s"}) // without the label
	process := s.ownController(controller{sink: s.sink.URL()})
	s.create(App("before"))
	running := s.run("before", 0)

	s.ownDefaults(config.OwnDefaultsName, ownDefaultsLabel, map[string]string{
		"image": "example.org/theirs", "applicationTolerations": "ttlAfterStopMillis: 0",
	})
	s.untilDefaultsChanged(process, 1)
	s.create(App("after"))
	other.create(App("pi"))
	if theirs, ours := s.imageOf("after"), other.imageOf("pi"); theirs != "example.org/theirs" || ours != "example.org/ours" {
		t.Errorf("the image is %s in the namespace, and %s in another", theirs, ours)
	}
	if now := s.driver("before", 0); now.UID != running.UID {
		t.Errorf("the driver that ran was replaced")
	}
	running.succeed()
	s.untilState("before", "ResourceReleased") // and no TTL handler is there yet
	s.kubeflowApplication(sparkPi("4.1.1"))
	s.runPi().succeed()
	s.untilShown("spark-pi", v1beta2.CompletedState)

	s.ownDefaults(config.OwnDefaultsName, ownDefaultsLabel, map[string]string{"driver-service-account": "admin"})
	event := s.untilKubeEvent(config.OwnDefaultsName, corev1.EventTypeWarning, "SettingRefused")
	if !strings.Contains(event.Message, `firesteel-defaults: driver-service-account is "admin": remove it, since only config-defaults may set it`) {
		t.Errorf("the Event says %q", event.Message)
	}
	s.create(App("refused"))
	if image := s.imageOf("refused"); image != "example.org/theirs" {
		t.Errorf("after a value that is refused, the image is %s", image)
	}

	s.ownDefaults(config.OwnDefaultsName, ownDefaultsLabel, map[string]string{"applicationTolerations": "ttlAfterStopMillis: 0"})
	s.ownDefaults(config.OwnKubeflowName, ownDefaultsLabel, map[string]string{"default-time-to-live": "1s"})
	s.sink.SetAnswer(s.ns, s.handler("ttl").trigger("type", "dev.firesteel.application.expired.v1"))
	untilGone(s, s.apps(), "before") // by the handler, which knows the namespace's defaults
	untilGone(s, s.kubeflowApps(), "spark-pi")

	s.must(s.Kube.CoreV1().ConfigMaps(s.ns).Delete(t.Context(), config.OwnDefaultsName, metav1.DeleteOptions{}))
	s.untilDefaultsChanged(process, 5)
	s.create(App("last"))
	if image := s.imageOf("last"); image != "example.org/ours" {
		t.Errorf("after the ConfigMap is deleted, the image is %s", image)
	}
}
