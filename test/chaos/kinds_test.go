package chaos

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/test/harness/rng"
)

// labelKind names the kind of an application.
const labelKind = "chaos/kind"

// kind is a kind of applications, and their expected result without faults.
type kind struct {
	name   string
	weight float64
	// make sets what differs from an application that succeeds.
	make func(*application)
	// kubeflow says it instead where they are of the Kubeflow operator's kind.
	kubeflow func(*kubeflowApplication)
	// ends are the states in which their attempts end; none where they run until they are deleted, in one attempt or, as
	// startsOver, in many.
	ends []lifecycle.State
}

func (k kind) states() []string {
	var states []string
	for _, end := range k.ends {
		states = append(states, string(end))
	}
	return states
}

// soon bounds what never happens: that a driver starts which is never scheduled, for example.
const soon = time.Second

var kinds = append([]kind{
	{"succeeds", 4, func(*application) {}, nil, ends(lifecycle.Succeeded)},
	{"is-over-at-once", 2, func(a *application) { a.start("fast") }, nil, ends(lifecycle.Succeeded)},
	{"fails", 1, func(a *application) { a.end("1") }, nil, ends(lifecycle.Failed)},
	{"is-killed-at-once", 1, func(a *application) { a.start("fast").end("137") }, nil, ends(lifecycle.Failed)},
	{"fails-again", 2, func(a *application) { a.end("1").restart(sparkv1.RestartOnFailure, 2) },
		nil, ends(lifecycle.Failed, lifecycle.Failed, lifecycle.Failed)},
	{"recovers", 3, func(a *application) { a.end("recovers").restart(sparkv1.RestartOnFailure, 3) },
		nil, ends(lifecycle.Failed, lifecycle.Succeeded)},
	{"recovers-at-once", 2, func(a *application) { a.start("fast").end("recovers").restart(sparkv1.RestartOnFailure, 3) },
		nil, ends(lifecycle.Failed, lifecycle.Succeeded)},
	{"repeats", 2, func(a *application) { a.restart(sparkv1.RestartAlways, 2) },
		nil, ends(lifecycle.Succeeded, lifecycle.Succeeded, lifecycle.Succeeded)},
	{"is-to-blame", 1, func(a *application) { a.end("1").restart(sparkv1.RestartOnInfrastructureFailure, 2) },
		nil, ends(lifecycle.Failed)},
	{"is-evicted", 1, func(a *application) { a.end("evicted").restart(sparkv1.RestartOnFailure, 1) },
		nil, ends(lifecycle.DriverEvicted, lifecycle.DriverEvicted)},
	{"cannot-be-initialized", 1, func(a *application) { a.start("init").initContainer() }, nil, ends(lifecycle.Failed)},
	{"is-never-pulled", 1, func(a *application) { a.start("image").timeouts.DriverStartTimeoutMillis = millis(soon) },
		nil, ends(lifecycle.DriverStartTimedOut)},
	{"is-never-scheduled", 1, func(a *application) {
		a.nowhere().restart(sparkv1.RestartOnInfrastructureFailure, 1).timeouts.DriverStartTimeoutMillis = millis(soon)
	}, nil, ends(lifecycle.DriverStartTimedOut, lifecycle.DriverStartTimedOut)},
	{"is-never-ready", 1, func(a *application) { a.start("unready").end("").timeouts.DriverReadyTimeoutMillis = millis(soon) },
		nil, ends(lifecycle.DriverReadyTimedOut)},
	{"has-its-container-restarted", 1, func(a *application) { a.end("restarted").restart(sparkv1.RestartOnFailure, 1) },
		nil, ends(lifecycle.Failed, lifecycle.Failed)},
	{"loses-its-node", 1, func(a *application) {
		a.end("restarted").conf("spark.kubernetes.driver.label.chaos/node", "lost").stopsWithin(2).restart(sparkv1.RestartOnFailure, 1)
	}, nil, ends(lifecycle.Failed, lifecycle.Failed)},
	{"is-retained", 1, func(a *application) {
		a.tolerations.ResourceRetainPolicy = sparkv1.RetainAlways
		a.tolerations.ResourceRetainDurationMillis = millis(soon)
	}, nil, ends(lifecycle.Succeeded)},
	{"brings-a-config-map", 1, func(a *application) {
		a.app.Spec.ConfigMapSpecs = []sparkv1.ConfigMapSpec{{Name: a.app.Name + "-settings", Data: map[string]string{"key": "value"}}}
		a.end("recovers").restart(sparkv1.RestartOnFailure, 1)
	}, nil, ends(lifecycle.Failed, lifecycle.Succeeded)},
	{"is-suspended", 1, func(a *application) { a.app.Spec.Suspend = true }, nil, ends(lifecycle.Succeeded)},
	{"runs-for-ever", 2, func(a *application) { a.end("").restart(sparkv1.RestartAlways, 3) }, nil, nil},
}, kubeflowKinds...)

func ends(states ...lifecycle.State) []lifecycle.State { return states }

func kindOf(name string) kind {
	for _, k := range append(kinds[:len(kinds):len(kinds)], earlyKinds...) {
		if k.name == name {
			return k
		}
	}
	return kind{}
}

// application builds a SparkApplication that runs for a moment and succeeds.
type application struct {
	app         *sparkv1.SparkApplication
	tolerations *sparkv1.ApplicationTolerations
	timeouts    *sparkv1.ApplicationTimeoutConfig
}

// newApplication creates a random application of a kind.
func newApplication(d *rng.Rand, namespace, name string, k kind) dialect.Application {
	switch {
	case k.kubeflow != nil:
		return newKubeflow(d, namespace, name, k)
	case k.make == nil:
		return newEarly(d, namespace, name, k)
	}
	// What is on a lost node may be in the way of any other of its name.
	a := &application{timeouts: &sparkv1.ApplicationTimeoutConfig{ForceTerminationGracePeriodMillis: millis(soon)}}
	a.tolerations = &sparkv1.ApplicationTolerations{ApplicationTimeoutConfig: a.timeouts}
	a.app = &sparkv1.SparkApplication{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{labelKind: k.name}},
		Spec: sparkv1.ApplicationSpec{
			MainClass:              "org.apache.spark.examples.SparkPi",
			Jars:                   "local:///opt/spark/examples/jars/spark-examples.jar",
			RuntimeVersions:        sparkv1.RuntimeVersions{SparkVersion: []string{"3.5.7", "4.1.1", "4.3.0"}[d.Below(3)]},
			SparkConf:              map[string]string{},
			ApplicationTolerations: a.tolerations,
		},
	}
	a.conf("spark.kubernetes.driver.node.selector."+labelPlace, place(namespace)).end("0")
	if d.Chance(0.5) {
		a.tolerations.TTLAfterStopMillis = millis(d.Between(0, soon))
	}
	k.make(a)
	return a.app
}

func (a *application) conf(key, value string) *application {
	a.app.Spec.SparkConf[key] = value
	return a
}

// start and end choose what kwok does with the driver.
func (a *application) start(how string) *application {
	return a.conf("spark.kubernetes.driver.label.chaos/start", how)
}

func (a *application) end(how string) *application {
	return a.conf("spark.kubernetes.driver.label.chaos/end", how)
}

func (a *application) restart(policy sparkv1.RestartPolicy, attempts int64) *application {
	a.tolerations.RestartConfig = &sparkv1.RestartConfig{
		RestartPolicy: policy, MaxRestartAttempts: &attempts, RestartBackoffMillis: millis(50 * time.Millisecond),
	}
	return a
}

func (a *application) initContainer() *application {
	a.app.Spec.DriverSpec = &sparkv1.PodSpecTemplate{PodTemplateSpec: &corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		InitContainers: []corev1.Container{{Name: "prepare", Image: "busybox"}},
	}}}
	return a
}

// stopsWithin bounds the time in which the driver stops. Until that is over it is not deleted by force. Otherwise it is 30 s.
func (a *application) stopsWithin(seconds int64) *application {
	a.app.Spec.DriverSpec = &sparkv1.PodSpecTemplate{PodTemplateSpec: &corev1.PodTemplateSpec{Spec: corev1.PodSpec{TerminationGracePeriodSeconds: &seconds}}}
	return a
}

// nowhere asks for a node that does not exist.
func (a *application) nowhere() *application {
	return a.conf("spark.kubernetes.driver.node.selector.chaos/place", "nowhere")
}

func millis(d time.Duration) *int64 {
	n := d.Milliseconds()
	return &n
}
