package integration

import (
	"context"
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/schedule/variant"
)

// enabled gives the env's namespace the label spark, or takes it where the value is null.
func (s *env) enabled(value string) {
	s.Helper()
	patch := fmt.Sprintf(`{"metadata":{"labels":{"spark":%s}}}`, value)
	_, err := s.Kube.CoreV1().Namespaces().Patch(s.Context(), s.ns, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	s.must(err)
}

func TestNamespaceSelectorOfTheController(t *testing.T) {
	alone(t)
	before, after, listed, last := newEnv(t), newEnv(t), newEnv(t), newEnv(t)
	before.enabled(`"enabled"`)
	before.configured("config-scope", "namespace-selector", "spark=enabled")
	process := before.ownController(controller{sink: before.sink.URL()})
	app, later, other := before.create(App("pi")), after.create(App("pi")), listed.create(App("pi"))
	late := after.kubeflowApplication(sparkPi("4.1.1"))
	d := before.run("pi", 0)
	after.wantUnchanged(later)
	listed.wantUnchanged(other)
	if now, err := after.kubeflowApps().Get(t.Context(), late.Name, metav1.GetOptions{}); err != nil || now.ResourceVersion != late.ResourceVersion {
		t.Errorf("%s was touched (%v)", late.Name, err)
	}

	after.enabled(`"enabled"`) // takes up what was there before
	running := after.run("pi", 0)
	kubeflow := after.runPi()
	listed.wantUnchanged(other)

	before.configured("config-scope", "watched-namespaces", listed.ns)
	before.untilLogged(process, "Updating operator namespaces to ["+listed.ns+"]")

	before.enabled("null")
	last.create(App("pi"))
	last.enabled(`"enabled"`)
	last.driver("pi", 0) // so that the labels of earlier changes are known
	left := before.get("pi")
	third := listed.run("pi", 0)
	d.succeed()
	running.succeed() // and is heard of later than the other
	kubeflow.succeed()
	third.succeed()
	after.untilState("pi", "ResourceReleased")
	listed.untilState("pi", "ResourceReleased")
	after.untilAllPublished(after.untilShown("spark-pi", v1beta2.CompletedState))
	before.wantUnchanged(left)

	before.must(before.Configure(context.Background(), "config-scope", map[string]string{"namespace-selector": "spark in"}))
	before.untilLogged(process, `namespace-selector is \"spark in\"`)
	before.enabled(`"enabled"`) // as what was before stays
	before.untilState("pi", "ResourceReleased")
	before.untilPublished(app, plainRun...)
	after.untilPublished(later, plainRun...)
	listed.untilPublished(other, plainRun...)
}

// Handlers that run as processes of their own ask for the labels themselves.
func TestNamespaceSelectorOfHandlers(t *testing.T) {
	alone(t)
	s := newEnv(t)
	s.enabled(`"enabled"`)
	s.configured("config-scope", "namespace-selector", "spark=enabled")
	s.configured("config-handlers", "restart", "external")
	s.configured("config-handlers", "ttl", "external")
	s.configured("config-handlers", "schedule", "external")
	s.ownController(controller{sink: s.sink.URL()})
	s.create(App("pi").Restart(sparkv1.RestartOnFailure, 1, 0).TTL(0))
	s.sink.SetAnswer(s.ns, s.handler("restart").trigger("sparkrestartallowed", "true"))
	s.run("pi", 0).exit(1)
	s.run("pi", 1).succeed()
	s.untilState("pi", "ResourceReleased")
	s.sink.SetAnswer(s.ns, s.handler("ttl").trigger("type", "dev.firesteel.application.expired.v1"))
	untilGone(s, s.apps(), "pi")

	replaced := s.schedules(variant.Apache, "replaced", "@every 3s", func(spec map[string]any) { spec["concurrencyPolicy"] = "Replace" })
	s.sink.SetAnswer(s.ns, s.handler("schedule").trigger("type", "dev.firesteel.schedule.due.v1"))
	replaced.untilStarted(replaced.untilStarted(""))
	replaced.patch(`{"suspend": true}`)
}
