package overview

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	firesteelv1alpha1 "github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/diagnosis/why"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/policy"
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

// PodsOf sorts the Pods that a PodSelector found. Pods of another owner with the label of the application are left out.
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

// IsDriver reports whether a Pod, whatever its labels, is the driver of the current attempt.
func (o *Object) IsDriver(pod *corev1.Pod) bool { return o.mayOwn(pod) && o.isCurrent(pod) }

// mayOwn reports whether a driver Pod may be one of the application: no other application owns it.
func (o *Object) mayOwn(pod *corev1.Pod) bool {
	owner := metav1.GetControllerOfNoCopy(pod)
	return owner == nil || owner.UID == o.Source.GetUID() || owner.Kind != o.Source.GetKind()
}

// isCurrent reports whether a driver Pod is that of the current attempt. Of an application without a launch it is the newest one that the
// status does not contradict.
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

// Facts returns what is known of an object, so that it can be explained.
func (o *Object) Facts(now time.Time, pods Pods, events []corev1.Event, log string) why.Facts {
	f := why.Facts{
		Now: now, Namespace: o.Namespace(), Name: o.Name(), Created: o.Source.GetCreationTimestamp().Time,
		Deleted: o.Source.GetDeletionTimestamp() != nil, Shown: o.State, Record: o.Record, Inherited: o.Inherited, StatusWriter: o.StatusWriter(),
		Conditions: o.Conditions, Driver: pods.Driver, Executors: pods.Executors, Events: events, Log: log, Redactor: o.Redactor(),
	}
	if o.Kind != Application {
		return f
	}
	app := o.Typed.(dialect.Application)
	if app.GetUndecodable() != "" {
		return f
	}
	lifecyclePolicy := o.dialect.Policy(app)
	f.Suspended, f.MainContainer = lifecyclePolicy.Suspend, lifecyclePolicy.MainContainer
	f.Invalid, f.Warnings = o.dialect.Invalid(app), o.dialect.Warnings(app)
	attempt := firesteelv1alpha1.Attempt{}
	if o.Record != nil {
		attempt = o.Record.Attempt
	}
	plan, err := o.dialect.Plan(app, attempt)
	if err != nil {
		plan.Properties = nil // what cannot be submitted asks for nothing
	}
	f.Properties, f.MainClass = plan.Properties, plan.MainClass
	f.ServiceAccount = cmp.Or(plan.Properties[policy.DriverAccountKey], "default")
	if pods.Driver != nil {
		f.ServiceAccount = cmp.Or(pods.Driver.Spec.ServiceAccountName, f.ServiceAccount)
	}
	f.Grant = dialect.GrantCommand(o.Namespace(), f.ServiceAccount)
	return f
}

// Why returns why the object is where it is.
func (o *Object) Why(facts why.Facts) []why.Reason {
	if o.Kind == Application {
		return why.Why(facts)
	}
	return why.OfOther(facts)
}

// OfAttempt returns the object as it was in an attempt, as far as its Pods are concerned. It returns false if nothing is known of the attempt.
func (o *Object) OfAttempt(attempt int64) (*Object, bool) {
	if o.Record == nil {
		return nil, false
	}
	if attempt == o.Record.Attempt.ID {
		return o, true
	}
	for i := len(o.Record.Transitions) - 1; i >= 0; i-- {
		t := o.Record.Transitions[i]
		if t.Attempt != attempt || t.DriverPod == "" {
			continue
		}
		was := *o
		was.Attempt, was.DriverPod = attempt, t.DriverPod
		was.Record = &firesteelv1alpha1.Record{
			Attempt:     firesteelv1alpha1.Attempt{ID: attempt},
			Launch:      &firesteelv1alpha1.Launch{DriverPod: t.DriverPod, ApplicationID: t.ApplicationID},
			Transitions: o.Record.Transitions[:i+1],
		}
		return &was, true
	}
	return nil, false
}
