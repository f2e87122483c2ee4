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
	// labelCase names the case of an application, and labelDriverEnd how the kubelet ends its drivers.
	labelCase      = "upgrade/case"
	labelDriverEnd = "upgrade/driver-end"
)

// How drivers end. By default they succeed.
const (
	fails    = "fails"
	recovers = "recovers" // fails at the first attempt only
	evicted  = "evicted"
	lasts    = "lasts" // until the test ends it
	hangs    = "hangs" // never starts
)

// upgradeCase is an application that is upgraded with: what is done to it, and how it must have ended.
type upgradeCase struct {
	name, driverEnd string
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
func runsOn(l upgradeCase) bool { return l.driverEnd == lasts && !l.interrupted }

// suspends reports whether an application is suspended for a while.
func suspends(l upgradeCase) bool { return l.suspended || l.interrupted }

// expires reports whether an application is deleted when its time to live is over.
func (l upgradeCase) expires() bool { return strings.HasPrefix(l.name, "expires") }

const backoff = 300 * time.Millisecond

// upgradeCases are the applications of each round. The first one is also that of the applications that are created all the time.
var upgradeCases = []upgradeCase{
	{name: "succeeds", apache: func(*application) {}, ends: words("Succeeded"), drivers: 1},
	{name: "succeeds-with-all-objects", apache: func(a *application) {
		a.Spark("4.2.0").ConfigMap(a.app.Name+"-settings", "key", "value").Executor(corev1.PodSpec{PriorityClassName: "low"})
	}, ends: words("Succeeded"), drivers: 1},
	{name: "runs", driverEnd: lasts, apache: func(*application) {}, ends: words("Succeeded"), drivers: 1},
	{name: "fails", driverEnd: fails, apache: func(*application) {}, ends: words("Failed"), drivers: 1},
	{name: "fails-again", driverEnd: fails, apache: func(a *application) { a.Restart(sparkv1.RestartOnFailure, 2, backoff) },
		ends: words("Failed Failed Failed"), drivers: 3},
	{name: "recovers", driverEnd: recovers, apache: func(a *application) { a.Restart(sparkv1.RestartOnFailure, 3, backoff) },
		ends: words("Failed Succeeded"), drivers: 2},
	{name: "waits-for-its-restart", driverEnd: recovers, apache: func(a *application) { a.Restart(sparkv1.RestartOnFailure, 1, 8*time.Second) },
		ends: words("Failed Succeeded"), drivers: 2},
	{name: "repeats", apache: func(a *application) { a.Restart(sparkv1.RestartAlways, 2, backoff) },
		ends: words("Succeeded Succeeded Succeeded"), drivers: 3},
	{name: "is-evicted", driverEnd: evicted, apache: func(a *application) { a.Restart(sparkv1.RestartOnFailure, 1, backoff) },
		ends: words("DriverEvicted DriverEvicted"), drivers: 2},
	{name: "never-starts", driverEnd: hangs, apache: func(a *application) { a.DriverStartsWithin(5 * time.Second) },
		ends: words("DriverStartTimedOut"), drivers: 1},
	{name: "is-suspended", suspended: true, apache: func(a *application) { a.Suspended() }, ends: words("Succeeded"), drivers: 1},
	{name: "is-retained", apache: func(a *application) { a.Retain(sparkv1.RetainAlways) }, ends: words("Succeeded"), drivers: 1},
	{name: "expires", apache: func(a *application) { a.TTL(time.Second) }, ends: words("Succeeded"), drivers: 1},
	{name: "is-invalid", apache: func(a *application) { a.Main("", "") }, ends: words("SchedulingFailure")},

	{name: "completes", kubeflow: func(*v1beta2.SparkApplication) {}, ends: words("Succeeded"), drivers: 1},
	{name: "streams", driverEnd: lasts, kubeflow: func(*v1beta2.SparkApplication) {}, ends: words("Succeeded"), drivers: 1},
	{name: "is-failing", driverEnd: fails, kubeflow: func(*v1beta2.SparkApplication) {}, ends: words("Failed"), drivers: 1},
	{name: "is-failing-again", driverEnd: fails, kubeflow: func(a *v1beta2.SparkApplication) { retries(a, 1) }, ends: words("Failed Failed"), drivers: 2},
	{name: "is-resumed", suspended: true, kubeflow: func(a *v1beta2.SparkApplication) { a.Spec.Suspend = true }, ends: words("Succeeded"), drivers: 1},
	{name: "is-interrupted", driverEnd: lasts, interrupted: true, kubeflow: func(*v1beta2.SparkApplication) {}, ends: words("Succeeded"), drivers: 1},
	{name: "expires-too", kubeflow: func(a *v1beta2.SparkApplication) { a.Spec.TimeToLiveSeconds = new(int64(1)) }, ends: words("Succeeded"), drivers: 1},
}

// retries has failures followed by a number of further attempts, each after a second.
func retries(a *v1beta2.SparkApplication, times int32) {
	a.Spec.RestartPolicy = v1beta2.RestartPolicy{
		Type: v1beta2.RestartOnFailure, OnFailureRetries: &times, OnFailureRetryInterval: new(int64(1)),
	}
}

// upgradeCaseOf returns the case of an application by its labels. Runs of schedules have none.
func upgradeCaseOf(labels map[string]string) (upgradeCase, bool) {
	for _, l := range upgradeCases {
		if l.name == labels[labelCase] {
			return l, true
		}
	}
	return upgradeCase{}, false
}

func (l upgradeCase) create(ctx context.Context, s *env, name string) (dialect.Application, error) {
	if l.kubeflow != nil {
		app := kubeflowPi(name, map[string]string{labelCase: l.name})
		app.Spec.Driver.Labels = map[string]string{labelDriverEnd: l.driverEnd}
		l.kubeflow(app)
		return s.kubeflowApps().Create(ctx, app, metav1.CreateOptions{})
	}
	a := App(name).Label(labelCase, l.name).Conf("spark.kubernetes.driver.label."+labelDriverEnd, l.driverEnd)
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
	switch pod.Labels[labelDriverEnd] {
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
