package why

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/firesteel-dev/firesteel/internal/text"
	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/redact"
)

// Facts are what is known of an application. Only Now, Namespace and Name are needed. The more is known, the more is explained.
type Facts struct {
	Now time.Time
	// Namespace and Name are the application's. Created is its creation time. Deleted reports whether it is being deleted.
	Namespace, Name string
	Created         time.Time
	Deleted         bool
	// Shown is the state that the status shows.
	Shown string
	// Record is status.firesteel. If another operator runs the application, it is made of that operator's status, and Inherited is true.
	Record    *v1alpha1.Record
	Inherited bool
	// StatusWriter is the field manager that last wrote the status.
	StatusWriter string
	Conditions   []metav1.Condition
	// Invalid are the findings about the spec for which nothing can run. Warnings are those about fields without effect.
	Invalid, Warnings finding.List
	// Suspended reports whether the spec holds the application.
	Suspended bool
	// Properties are the Spark properties that an attempt is submitted with. MainClass and ServiceAccount are those of its driver.
	Properties                map[string]string
	MainClass, ServiceAccount string
	// Grant is the command that gives the driver's service account the rights of a driver.
	Grant string
	// MainContainer is the name of the driver's container; empty for Spark's.
	MainContainer string
	// Driver is the driver Pod of the current attempt, and Executors are its executors.
	Driver    *corev1.Pod
	Executors []*corev1.Pod
	// Events are the Kubernetes Events about the application and its Pods.
	Events []corev1.Event
	// Log is the end of the driver's log.
	Log string
	// Redactor removes the secrets of the application from texts.
	Redactor *redact.Redactor
}

// Reason is one cause.
type Reason struct {
	Cause Cause
	// Summary is a sentence about the cause, in the words of the conditions. Evidence is a sentence about what shows it.
	Summary, Evidence string
	// Remedy is what to do. It is empty if the summary has it, or if there is nothing to do.
	Remedy string
	// Verb and Changes make the command that applies the remedy. Both are empty if there is no such command.
	Verb    string
	Changes []Change
	// Beside reports whether the application goes on in spite of it.
	Beside bool
}

// Change is a change of a spec, by the names that kubectl spark rerun --set has for all APIs: driver.memory, executor.cores, image.
type Change struct{ Field, Value string }

// The fields of changes.
const (
	Memory         = "memory"
	MemoryOverhead = "memoryOverhead"
	Cores          = "cores"
	Instances      = "instances"
	ServiceAccount = "serviceAccount"
	Image          = "image"
	MainClass      = "mainClass"
)

// Command returns the command that applies the remedy; empty if there is none. name is how the user named the application. namespace is empty if the
// command needs none.
func (r Reason) Command(namespace, name string) string {
	verb := r.Verb
	if len(r.Changes) > 0 {
		verb = "rerun"
	}
	if verb == "" {
		return ""
	}
	words := []string{"kubectl", "spark", verb, name}
	if namespace != "" {
		words = append(words, "-n", namespace)
	}
	for _, change := range r.Changes {
		words = append(words, "--set", change.Field+"="+change.Value)
	}
	return strings.Join(words, " ")
}

// maxText bounds each text of a reason.
const maxText = 1024

// Why returns why an application is in its state, the most likely cause first. It returns nothing for an application that runs as it should, or
// that succeeded.
func Why(facts Facts) []Reason {
	v := newView(facts)
	var all []Reason
	for _, rule := range []func() []Reason{v.waits, v.ended, v.driver, v.obstacle, v.executors, v.notes} {
		all = append(all, rule()...)
	}
	slices.SortStableFunc(all, func(a, b Reason) int {
		switch {
		case a.Beside == b.Beside:
			return 0
		case b.Beside:
			return -1
		default:
			return 1
		}
	})
	var kept []Reason
	for _, r := range all {
		if slices.ContainsFunc(kept, func(k Reason) bool { return k.Cause == r.Cause }) {
			continue
		}
		r.Summary, r.Evidence, r.Remedy = v.clean(r.Summary), v.clean(r.Evidence), v.clean(r.Remedy)
		kept = append(kept, r)
	}
	return kept
}

// view is the facts, and what the rules derive from them.
type view struct {
	Facts
	state lifecycle.State
	// observed is the driver Pod as the lifecycle observes it; nil if there is none.
	observed *lifecycle.Driver
	// end is how the last ended attempt ended; nil if none has ended.
	end *ending
}

func newView(facts Facts) *view {
	v := &view{Facts: facts, state: lifecycle.CurrentState(facts.Record)}
	if facts.Driver != nil {
		v.observed = lifecycle.ObserveDriver(facts.Driver, v.mainContainer())
	}
	v.end = v.lastEnd()
	return v
}

// clean redacts a text, and clips it.
func (v *view) clean(words string) string {
	return text.Clip(strings.TrimSpace(v.Redactor.Text(redact.Text(words))), maxText)
}

func (v *view) condition(kind string) *metav1.Condition {
	return meta.FindStatusCondition(v.Conditions, kind)
}

// age returns how long ago an instant was, as kubectl prints it.
func (v *view) age(at time.Time) string {
	if at.IsZero() {
		return "some time"
	}
	return duration.HumanDuration(max(v.Now.Sub(at), 0))
}

// conditionEvidence returns the evidence of a condition.
func (v *view) conditionEvidence(c *metav1.Condition) string {
	return fmt.Sprintf("The condition %s is %s with the reason %s, for %s.", c.Type, c.Status, c.Reason, v.age(c.LastTransitionTime.Time))
}

// event returns the last Kubernetes Event about an object with one of the reasons; nil if there is none. An empty name stands for the
// application.
func (v *view) event(pod string, reasons ...string) *corev1.Event {
	var last *corev1.Event
	for i := range v.Events {
		e := &v.Events[i]
		about := e.InvolvedObject.Name == v.Name && e.InvolvedObject.Kind != "Pod"
		if pod != "" {
			about = e.InvolvedObject.Kind == "Pod" && e.InvolvedObject.Name == pod
		}
		if about && slices.Contains(reasons, e.Reason) && (last == nil || LastSeen(last).Before(LastSeen(e))) {
			last = e
		}
	}
	return last
}

// LastSeen returns when a Kubernetes Event was last seen.
func LastSeen(e *corev1.Event) time.Time {
	switch {
	case e.Series != nil && !e.Series.LastObservedTime.IsZero():
		return e.Series.LastObservedTime.Time
	case !e.LastTimestamp.IsZero():
		return e.LastTimestamp.Time
	case !e.EventTime.IsZero():
		return e.EventTime.Time
	case !e.FirstTimestamp.IsZero():
		return e.FirstTimestamp.Time
	default:
		return e.CreationTimestamp.Time
	}
}

// eventEvidence returns the evidence of an Event.
func (v *view) eventEvidence(e *corev1.Event) string {
	return fmt.Sprintf("The Event %s of %s %s, %s ago: %s", e.Reason, e.InvolvedObject.Kind, e.InvolvedObject.Name, v.age(LastSeen(e)), e.Message)
}

// over reports whether the application has ended.
func (v *view) over() bool { return v.state.Terminated() }
