package integration

import (
	"context"
	"math/rand/v2"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/test/harness/kubelet"
)

const (
	// labelLife names the life of an application, and labelFate what the kubelet does with its drivers.
	labelLife = "upgrade/life"
	labelFate = "upgrade/fate"
)

// The fates of drivers. One without fate succeeds.
const (
	fails    = "fails"
	recovers = "recovers" // fails at the first attempt only
	evicted  = "evicted"
	lasts    = "lasts" // until the test ends it
	hangs    = "hangs" // never starts
)

// life is what happens to an application, and what it must have come to in the end.
type life struct {
	name, fate string
	// apache and kubeflow, of which there is one, set what differs from an application that succeeds.
	apache   func(*application)
	kubeflow func(*v1beta2.SparkApplication)
	// suspended applications are resumed later. interrupted ones are suspended while they run, if they are of the first round.
	suspended, interrupted bool
	// ends are the states in which its attempts end, and drivers the number of all its driver Pods.
	ends    []string
	drivers int
}

// runsOn reports whether an application runs until the test ends it.
func runsOn(l life) bool { return l.fate == lasts && !l.interrupted }

// suspends reports whether an application is suspended for a while.
func suspends(l life) bool { return l.suspended || l.interrupted }

// expires reports whether an application is deleted when its time to live is over.
func (l life) expires() bool { return strings.HasPrefix(l.name, "expires") }

const backoff = 300 * time.Millisecond

// lives are those of each round. The first one is also that of the applications that are created all the time.
var lives = []life{
	{name: "succeeds", apache: func(*application) {}, ends: words("Succeeded"), drivers: 1},
	{name: "succeeds-with-all-objects", apache: func(a *application) {
		a.Spark("4.2.0").ConfigMap(a.app.Name+"-settings", "key", "value").Executor(corev1.PodSpec{PriorityClassName: "low"})
	}, ends: words("Succeeded"), drivers: 1},
	{name: "runs", fate: lasts, apache: func(*application) {}, ends: words("Succeeded"), drivers: 1},
	{name: "fails", fate: fails, apache: func(*application) {}, ends: words("Failed"), drivers: 1},
	{name: "fails-again", fate: fails, apache: func(a *application) { a.Restart(sparkv1.RestartOnFailure, 2, backoff) },
		ends: words("Failed Failed Failed"), drivers: 3},
	{name: "recovers", fate: recovers, apache: func(a *application) { a.Restart(sparkv1.RestartOnFailure, 3, backoff) },
		ends: words("Failed Succeeded"), drivers: 2},
	{name: "waits-for-its-restart", fate: recovers, apache: func(a *application) { a.Restart(sparkv1.RestartOnFailure, 1, 8*time.Second) },
		ends: words("Failed Succeeded"), drivers: 2},
	{name: "repeats", apache: func(a *application) { a.Restart(sparkv1.RestartAlways, 2, backoff) },
		ends: words("Succeeded Succeeded Succeeded"), drivers: 3},
	{name: "is-evicted", fate: evicted, apache: func(a *application) { a.Restart(sparkv1.RestartOnFailure, 1, backoff) },
		ends: words("DriverEvicted DriverEvicted"), drivers: 2},
	{name: "never-starts", fate: hangs, apache: func(a *application) { a.DriverStartsWithin(5 * time.Second) },
		ends: words("DriverStartTimedOut"), drivers: 1},
	{name: "is-suspended", suspended: true, apache: func(a *application) { a.Suspended() }, ends: words("Succeeded"), drivers: 1},
	{name: "is-retained", apache: func(a *application) { a.Retain(sparkv1.RetainAlways) }, ends: words("Succeeded"), drivers: 1},
	{name: "expires", apache: func(a *application) { a.TTL(time.Second) }, ends: words("Succeeded"), drivers: 1},
	{name: "is-invalid", apache: func(a *application) { a.Main("", "") }, ends: words("SchedulingFailure")},

	{name: "completes", kubeflow: func(*v1beta2.SparkApplication) {}, ends: words("Succeeded"), drivers: 1},
	{name: "streams", fate: lasts, kubeflow: func(*v1beta2.SparkApplication) {}, ends: words("Succeeded"), drivers: 1},
	{name: "is-failing", fate: fails, kubeflow: func(*v1beta2.SparkApplication) {}, ends: words("Failed"), drivers: 1},
	{name: "is-failing-again", fate: fails, kubeflow: func(a *v1beta2.SparkApplication) { retries(a, 1) }, ends: words("Failed Failed"), drivers: 2},
	{name: "is-resumed", suspended: true, kubeflow: func(a *v1beta2.SparkApplication) { a.Spec.Suspend = true }, ends: words("Succeeded"), drivers: 1},
	{name: "is-interrupted", fate: lasts, interrupted: true, kubeflow: func(*v1beta2.SparkApplication) {}, ends: words("Succeeded"), drivers: 1},
	{name: "expires-too", kubeflow: func(a *v1beta2.SparkApplication) { a.Spec.TimeToLiveSeconds = new(int64(1)) }, ends: words("Succeeded"), drivers: 1},
}

// retries has failures followed by a number of further attempts, each after a second.
func retries(a *v1beta2.SparkApplication, times int32) {
	a.Spec.RestartPolicy = v1beta2.RestartPolicy{
		Type: v1beta2.RestartOnFailure, OnFailureRetries: &times, OnFailureRetryInterval: new(int64(1)),
	}
}

// lifeOf returns the life of an application with labels. Runs of schedules have none.
func lifeOf(labels map[string]string) (life, bool) {
	for _, l := range lives {
		if l.name == labels[labelLife] {
			return l, true
		}
	}
	return life{}, false
}

func (l life) create(ctx context.Context, s *env, name string) (dialect.Application, error) {
	if l.kubeflow != nil {
		app := kubeflowPi(name, map[string]string{labelLife: l.name})
		app.Spec.Driver.Labels = map[string]string{labelFate: l.fate}
		l.kubeflow(app)
		return s.kubeflowApps().Create(ctx, app, metav1.CreateOptions{})
	}
	a := App(name).Label(labelLife, l.name).Conf("spark.kubernetes.driver.label."+labelFate, l.fate)
	l.apache(a)
	return s.apps().Create(ctx, a.Obj(), metav1.CreateOptions{})
}

// stepsOf are those that a driver goes through, at times that differ.
func stepsOf(pod *corev1.Pod) []kubelet.Step {
	after := func(least, most time.Duration) time.Duration { return least + rand.N(most-least) }
	started := kubelet.Step{After: after(50*time.Millisecond, 500*time.Millisecond), Change: kubelet.Started}
	ready := kubelet.Step{After: after(50*time.Millisecond, 500*time.Millisecond), Change: kubelet.Ready}
	ended := kubelet.Step{After: after(50*time.Millisecond, 2*time.Second), Change: func(status *corev1.PodStatus) { kubelet.Ended(status, 0) }}
	failed := kubelet.Step{After: ended.After, Change: func(status *corev1.PodStatus) { kubelet.Ended(status, 1) }}
	switch pod.Labels[labelFate] {
	case hangs:
		return nil
	case lasts:
		return []kubelet.Step{started, ready}
	case evicted:
		return []kubelet.Step{started, ready, {After: ended.After, Change: kubelet.Evicted}}
	case fails:
		return []kubelet.Step{started, ready, failed}
	case recovers:
		if strings.HasSuffix(pod.Name, "-0-driver") {
			return []kubelet.Step{started, ready, failed}
		}
	}
	return []kubelet.Step{started, ready, ended}
}
