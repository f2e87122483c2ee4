package overview

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/cluster/resources"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

const labelRole = "spark-role"

// Pods are the Pods of an application by attempts.
type Pods struct {
	// Driver is the driver of the current attempt, and Executors are its executors, in the order of their numbers.
	Driver    *corev1.Pod
	Executors []*corev1.Pod
	// Earlier are the drivers of earlier attempts, the newest first.
	Earlier []*corev1.Pod
}

// All returns the driver and the executors of the current attempt.
func (p Pods) All() []*corev1.Pod {
	if p.Driver == nil {
		return p.Executors
	}
	return append([]*corev1.Pod{p.Driver}, p.Executors...)
}

// PodsOf sorts the Pods that PodSelector selects. It leaves out Pods that have the label of the application and another owner.
func (o *Object) PodsOf(found []corev1.Pod) (p Pods) {
	var drivers, executors []*corev1.Pod
	for i := range found {
		switch pod := &found[i]; {
		case o.Kind == Cluster:
			executors = append(executors, pod)
		case pod.Labels[labelRole] == "driver" && o.mayOwn(pod):
			drivers = append(drivers, pod)
		case pod.Labels[labelRole] == "executor":
			executors = append(executors, pod)
		}
	}
	slices.SortStableFunc(drivers, func(a, b *corev1.Pod) int { return b.CreationTimestamp.Compare(a.CreationTimestamp.Time) })
	at := slices.IndexFunc(drivers, o.isCurrent)
	if at >= 0 {
		p.Driver = drivers[at]
		drivers = slices.Delete(drivers, at, at+1)
	}
	p.Earlier = drivers
	for _, executor := range executors {
		if o.Kind == Cluster || o.isExecutorOf(p.Driver, executor) {
			p.Executors = append(p.Executors, executor)
		}
	}
	slices.SortStableFunc(p.Executors, func(a, b *corev1.Pod) int {
		x, y := a.Labels[submission.LabelExecutorID], b.Labels[submission.LabelExecutorID]
		return cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y), cmp.Compare(a.Name, b.Name))
	})
	return p
}

// IsDriver reports whether a Pod is the driver of the current attempt. Its labels do not count.
func (o *Object) IsDriver(pod *corev1.Pod) bool { return o.mayOwn(pod) && o.isCurrent(pod) }

// mayOwn reports whether a driver Pod may be one of the application: no other application owns it.
func (o *Object) mayOwn(pod *corev1.Pod) bool {
	owner := metav1.GetControllerOfNoCopy(pod)
	return owner == nil || owner.UID == o.Source.GetUID() || owner.Kind != o.Source.GetKind()
}

// isCurrent reports whether a driver Pod is that of the current attempt. If the record has no launch, the name in the status
// decides. Without a name each one may be, and PodsOf takes the newest.
func (o *Object) isCurrent(pod *corev1.Pod) bool {
	switch {
	case o.Record != nil && o.Record.Launch != nil && o.Record.Launch.DriverUID != "":
		return pod.UID == o.Record.Launch.DriverUID
	case o.Record != nil && o.Record.Launch != nil && o.Record.Launch.ApplicationID != "": // each attempt may have the same names
		return pod.Name == o.DriverPod && pod.Labels[submission.LabelApplicationID] == o.Record.Launch.ApplicationID
	case o.DriverPod != "":
		return pod.Name == o.DriverPod
	default:
		return true
	}
}

func (o *Object) isExecutorOf(driver, executor *corev1.Pod) bool {
	id := executor.Labels[submission.LabelApplicationID]
	switch {
	case driver != nil:
		return id == driver.Labels[submission.LabelApplicationID]
	case o.Record != nil && o.Record.Launch != nil && o.Record.Launch.ApplicationID != "":
		return id == o.Record.Launch.ApplicationID
	default:
		return true
	}
}

// PodSelector returns the labels of the Pods of the object: a driver and its executors, or a master and its workers. It is empty for
// schedules.
func (o *Object) PodSelector() string {
	switch {
	case o.Kind == Cluster:
		return resources.LabelCluster + "=" + o.Name()
	case o.api == nil:
		return ""
	case o.api.UserDriverLabel != "":
		if app := o.Typed.(dialect.Application); o.dialect.UserDriver(app) != nil {
			return o.api.UserDriverLabel + "=" + o.api.UserDriverID(app)
		}
	}
	driver := o.dialect.DriverLabels(o.Typed.(dialect.Application))
	ofApplication := slices.DeleteFunc(strings.Split(driver, ","), func(label string) bool { return !strings.HasPrefix(label, o.api.LabelApplication+"=") })
	return strings.Join(ofApplication, ",")
}

// LabelApplication returns the key of the label with which Pods of this API name their application; empty if there is none.
func (o *Object) LabelApplication() string {
	if o.api == nil {
		return ""
	}
	return o.api.LabelApplication
}

// MainContainer returns the name of the container that runs a driver.
func (o *Object) MainContainer(driver *corev1.Pod) string {
	wanted := ""
	if o.Kind == Application {
		wanted = o.dialect.Policy(o.Typed.(dialect.Application)).MainContainer
	}
	return lifecycle.DriverContainer(&driver.Status, wanted)
}
