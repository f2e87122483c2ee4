package chaos

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/test/harness/rng"
)

// kubeflowKinds are those of the Kubeflow operator's API.
var kubeflowKinds = []kind{
	{"completes", 5, nil, func(*kubeflowApplication) {}, ends(lifecycle.Succeeded)},
	{"completes-at-once", 2, nil, func(a *kubeflowApplication) { a.start("fast") }, ends(lifecycle.Succeeded)},
	{"is-failing", 2, nil, func(a *kubeflowApplication) { a.end("1") }, ends(lifecycle.Failed)},
	{"is-failing-again", 3, nil, func(a *kubeflowApplication) { a.end("1").retry(1) }, ends(lifecycle.Failed, lifecycle.Failed)},
	{"is-evicted-again", 1, nil, func(a *kubeflowApplication) { a.end("evicted").retry(1) },
		ends(lifecycle.DriverEvicted, lifecycle.DriverEvicted)},
	{"is-resumed", 3, nil, func(a *kubeflowApplication) { a.app.Spec.Suspend = true }, ends(lifecycle.Succeeded)},
	{"streams", 2, nil, func(a *kubeflowApplication) { a.end("") }, nil},
	{startsOver, 2, nil, func(a *kubeflowApplication) { a.app.Spec.RestartPolicy.Type = v1beta2.RestartAlways }, nil},
}

// startsOver is the kind that runs again after each success, until it is deleted: the restart policy Always has no limit.
const startsOver = "starts-over"

// kubeflowApplication builds a SparkApplication of that API that runs for a moment and completes.
type kubeflowApplication struct{ app *v1beta2.SparkApplication }

func newKubeflow(d *rng.Rand, namespace, name string, k kind) *v1beta2.SparkApplication {
	a := kubeflowApplication{&v1beta2.SparkApplication{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{labelKind: k.name}},
		Spec: v1beta2.SparkApplicationSpec{
			Type: v1beta2.ScalaApplication, Mode: v1beta2.ClusterMode, Image: "spark",
			SparkVersion:        []string{"3.5.7", "4.1.1", "4.3.0"}[d.Below(3)],
			MainClass:           "org.apache.spark.examples.SparkPi",
			MainApplicationFile: "local:///opt/spark/examples/jars/spark-examples.jar",
		},
	}}
	a.app.Spec.Driver.Labels = map[string]string{}
	a.app.Spec.Driver.NodeSelector = map[string]string{labelPlace: place(namespace)}
	a.end("0")
	if d.Chance(0.5) {
		seconds := int64(d.Below(2))
		a.app.Spec.TimeToLiveSeconds = &seconds
	}
	k.kubeflow(&a)
	return a.app
}

// start and end choose what kwok does with the driver.
func (a *kubeflowApplication) start(how string) *kubeflowApplication {
	a.app.Spec.Driver.Labels["chaos/start"] = how
	return a
}

func (a *kubeflowApplication) end(how string) *kubeflowApplication {
	a.app.Spec.Driver.Labels["chaos/end"] = how
	return a
}

// retry lets another run follow failures.
func (a *kubeflowApplication) retry(times int32) *kubeflowApplication {
	second := int64(1)
	a.app.Spec.RestartPolicy = v1beta2.RestartPolicy{
		Type:             v1beta2.RestartOnFailure,
		OnFailureRetries: &times, OnFailureRetryInterval: &second,
		OnSubmissionFailureRetries: &times, OnSubmissionFailureRetryInterval: &second,
	}
	return a
}

// suspended reports whether an application asks not to run.
func suspended(app dialect.Application) bool {
	switch app := app.(type) {
	case *v1beta2.SparkApplication:
		return app.Spec.Suspend
	case *sparkv1.SparkApplication:
		return app.Spec.Suspend
	default:
		return false
	}
}

// arguments is the field with the driver's arguments.
func arguments(app dialect.Application) string {
	if _, ok := app.(*sparkv1.SparkApplication); ok {
		return "driverArgs"
	}
	return "arguments"
}
