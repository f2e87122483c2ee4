package integration

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
)

// hostileKind is a kind of which an object has something that costs more than its size explains.
type hostileKind struct {
	apiVersion, kind, resource string
	// spec has a quantity in the place of %s, at field.
	spec, field string
}

const hostilePod = `{"spec": {"containers": [{"name": "a", "resources": {"limits": {"cpu": %s}}}]}}`

var hostileKinds = []hostileKind{
	{
		"spark.apache.org/v1", "SparkApplication", "sparkapplications",
		`{"mainClass": "Main", "runtimeVersions": {"sparkVersion": "4.1.1"}, "driverSpec": {"podTemplateSpec": ` + hostilePod + `}}`,
		"spec.driverSpec.podTemplateSpec.spec.containers[0].resources.limits.cpu",
	},
	{
		"sparkoperator.k8s.io/v1beta2", "SparkApplication", "sparkapplications",
		`{"type": "Scala", "mode": "cluster", "mainClass": "Main", "mainApplicationFile": "local:///a.jar", "sparkVersion": "4.1.1", "driver": {},
			"executor": {"template": ` + hostilePod + `}}`,
		"spec.executor.template.spec.containers[0].resources.limits.cpu",
	},
	{
		"spark.apache.org/v1", "SparkCluster", "sparkclusters",
		`{"runtimeVersions": {"sparkVersion": "4.1.1"}, "clusterTolerations": {"instanceConfig": {"initWorkers": 1, "minWorkers": 1, "maxWorkers": 1}},
			"workerSpec": {"statefulSetSpec": {"volumeClaimTemplates": [{"metadata": {"name": "a"}, "spec": {"resources": {"requests": {"storage": %s}}}}]}}}`,
		"spec.workerSpec.statefulSetSpec.volumeClaimTemplates[0].spec.resources.requests.storage",
	},
	{
		"firesteel.dev/v1alpha1", "ScheduledSparkApplication", "scheduledsparkapplications",
		`{"schedule": "@every 1s", "template": {"spec": {"mainClass": "Main", "runtimeVersions": {"sparkVersion": "4.1.1"},
			"driverSpec": {"podTemplateSpec": ` + hostilePod + `}}}}`,
		"spec.template.spec.driverSpec.podTemplateSpec.spec.containers[0].resources.limits.cpu",
	},
	{
		"sparkoperator.k8s.io/v1beta2", "ScheduledSparkApplication", "scheduledsparkapplications",
		`{"schedule": "@every 1s", "template": {"type": "Scala", "mode": "cluster", "mainClass": "Main", "mainApplicationFile": "local:///a.jar",
			"sparkVersion": "4.1.1", "driver": {"template": ` + hostilePod + `}, "executor": {}}}`,
		"spec.template.driver.template.spec.containers[0].resources.limits.cpu",
	},
}

// apply creates an object of the kind with a spec, as kubectl does.
func (k hostileKind) apply(s *env, name, spec string) {
	s.Helper()
	s.submitted(fmt.Sprintf(`{"apiVersion": %q, "kind": %q, "metadata": {"name": %q}, "spec": %s}`, k.apiVersion, k.kind, name, spec))
}

// messageOf returns all messages of an object: of its status and of its Kubernetes Events.
func (k hostileKind) messageOf(s *env, name string) string {
	s.Helper()
	object, err := s.Dynamic.Resource(resourceOf(k.apiVersion, k.resource)).Namespace(s.ns).Get(s.Context(), name, metav1.GetOptions{})
	s.must(err)
	reason, _, _ := unstructured.NestedString(object.Object, "status", "reason")
	texts := []string{reason}
	conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	for _, condition := range conditions {
		if message, ok := condition.(map[string]any)["message"].(string); ok {
			texts = append(texts, message)
		}
	}
	events, err := s.Kube.CoreV1().Events(s.ns).List(s.Context(), metav1.ListOptions{FieldSelector: "involvedObject.name=" + name})
	s.must(err)
	for _, event := range events.Items {
		if event.Type == corev1.EventTypeWarning {
			texts = append(texts, event.Message)
		}
	}
	return strings.Join(texts, "\n")
}

// untilMessage waits until an object's messages contain all parts.
func (k hostileKind) untilMessage(s *env, name string, parts ...string) string {
	s.Helper()
	var said string
	err := wait.PollUntilContextTimeout(s.Context(), pollInterval, timeout, true, func(context.Context) (bool, error) {
		said = k.messageOf(s, name)
		return !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(said, part) }), nil
	})
	if err != nil {
		s.Fatalf("%s %s does not say %q: %.2000s", k.kind, name, parts, said)
	}
	return said
}

// runNeighbours runs applications and a cluster beside hostile objects of other namespaces.
func runNeighbours(s *env, name string) {
	s.Helper()
	apache := s.create(App(name))
	s.kubeflowApplication(strings.ReplaceAll(sparkPi("4.1.1"), "spark-pi", name+"-kubeflow"))
	s.createCluster(Cluster(name + "-cluster"))
	s.run(apache.Name, 0).succeed()
	s.untilState(apache.Name, "ResourceReleased")
	s.kubeflowDriver(name + "-kubeflow").start().succeed()
	s.untilShown(name+"-kubeflow", v1beta2.CompletedState)
	s.untilSet(name+"-cluster-worker", "exist", func(*appsv1.StatefulSet) bool { return true })
}

// One quantity of a few characters can keep a program busy for ever. It is refused on the object that has it, whatever its
// kind, and everybody else is served: beside it, and by a controller that starts when it is there.
func TestHostileQuantitiesAffectNoOtherApplication(t *testing.T) {
	alone(t)
	quantities := map[string]string{
		"beyond-32-bits": `"1e3294967296"`,
		"huge":           `"1e999999999"`,
		"tiny":           `"1e-99999"`,
		"many-digits":    `"1000000000000000000000e999999999"`,
		"long":           `"1` + strings.Repeat("0", 300_000) + `"`,
		"blank":          `" 1E-2147483647 "`,
		"number":         `1e300`,
	}
	bad, good := newEnv(t), newEnv(t)
	first := good.ownController(controller{sink: good.sink.URL()})
	for i, k := range hostileKinds {
		for name, quantity := range quantities {
			k.apply(bad, name+"-"+strings.ToLower(k.kind), fmt.Sprintf(k.spec, quantity))
		}
		runNeighbours(good, fmt.Sprintf("beside-%d", i))
	}
	first.Kill()
	good.ownController(controller{sink: good.sink.URL()})
	runNeighbours(good, "after")
	for _, k := range hostileKinds {
		for name := range quantities {
			said := k.untilMessage(bad, name+"-"+strings.ToLower(k.kind), k.field, "write one such as 500m")
			if len(said) > 8<<10 {
				t.Errorf("%s %s says %d bytes", k.kind, name, len(said))
			}
		}
		for name, value := range map[string]string{"huge": `"1e999999999"`, "number": `"1e+300"`} {
			k.untilMessage(bad, name+"-"+strings.ToLower(k.kind), value)
		}
		for _, name := range []string{"huge", "long"} { // and it can be deleted
			_, err := bad.kubectl("", "delete", resourceOf(k.apiVersion, k.resource).GroupResource().String(), name+"-"+strings.ToLower(k.kind), "--timeout="+timeout.String())
			bad.must(err)
		}
	}
	pods, err := bad.Kube.CoreV1().Pods(bad.ns).List(t.Context(), metav1.ListOptions{})
	bad.must(err)
	if len(pods.Items) > 0 {
		t.Errorf("%d Pods were made", len(pods.Items))
	}
}
