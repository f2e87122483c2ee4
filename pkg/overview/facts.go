package overview

import (
	"cmp"
	"time"

	corev1 "k8s.io/api/core/v1"

	firesteelv1alpha1 "github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/diagnosis/why"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/policy"
)

// Facts returns the facts from which pkg/diagnosis/why explains the object.
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
		plan.Properties = nil // nothing can be submitted
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

// OfAttempt returns the object with the driver of an earlier attempt, so that PodsOf finds the Pods of that attempt. It returns false if the record
// does not have the attempt.
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
