package why

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/diagnosis"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

// The types of conditions that are read. pkg/dialect documents them.
const (
	conditionSucceeded       = "Succeeded"
	conditionWarning         = "Warning"
	conditionLabelsChanged   = "DriverLabelsChanged"
	conditionHandlerAnswered = "HandlerAnswered"
	conditionEventsDelivered = "EventsDelivered"
	conditionExecutorsReady  = "ExecutorsReady"
)

// held are the causes by the reason of Succeeded=Unknown, or of an Event. Each message has its remedy.
var held = map[string]Cause{
	diagnosis.ReasonWaitingForQuota:      HeldByQuota,
	diagnosis.ReasonExecutorsExceedQuota: QuotaRefusesExecutors,
	string(lifecycle.HeldSuspended):      Suspended,
	"AwaitsUserDriver":                   AwaitsUserDriver,
	"NameNotFree":                        NameNotFree,
	"DriverPodTerminating":               EarlierDriver,
	"DriverPodFinalizers":                EarlierDriver,
	"EarlierDriver":                      EarlierDriver,
	"PodTemplateUnavailable":             TemplateUnavailable,
	"WebhookFailed":                      WebhookUnavailable,
	"Undecodable":                        SpecRefused,
	"NotAdopted":                         NotServed,
	"RecordNotUnderstood":                NotServed,
	"WrongCustomResourceDefinition":      NotServed,
	"TooLargeForStatus":                  NotServed,
	"AnotherOperatorActive":              OtherOperatorRuns,
}

// waits returns what the application waits for.
func (v *view) waits() []Reason {
	if v.over() {
		return nil
	}
	var all []Reason
	if c := v.condition(conditionSucceeded); c != nil && c.Status == metav1.ConditionUnknown {
		if cause, ok := held[c.Reason]; ok {
			r := Reason{Cause: cause, Summary: c.Message, Evidence: v.conditionEvidence(c)}
			switch cause {
			case Suspended:
				r.Verb, r.Remedy = "resume", "Set spec.suspend to false."
			case QuotaRefusesExecutors, HeldByQuota:
				r.Changes = append(v.lessHeap(ofExecutors), v.fewerCores(ofExecutors)...)
			}
			all = append(all, r)
		}
	}
	all = append(all, v.unserved()...)
	all = append(all, v.handlers()...)
	return append(all, v.backOff()...)
}

// obstacle returns the cause in the condition Succeeded if no driver Pod is known, and no other rule explains that condition.
func (v *view) obstacle() []Reason {
	c := v.condition(conditionSucceeded)
	if c == nil || c.Status != metav1.ConditionUnknown || c.Reason == string(v.state) || c.Message == "" || held[c.Reason] != "" || v.observed != nil {
		return nil
	}
	if c.Reason == "Unschedulable" {
		all := v.wasUnschedulable(c.Message)
		for i := range all {
			all[i].Summary, all[i].Evidence = c.Message, v.conditionEvidence(c)
		}
		return all
	}
	r := ends[c.Reason]
	r.Summary, r.Evidence = c.Message, v.conditionEvidence(c)
	if r.Cause == "" {
		r.Cause = Cause(c.Reason)
	}
	return []Reason{r}
}

// unserved returns why no operator runs the application.
func (v *view) unserved() (all []Reason) {
	for _, reason := range []string{"WrongCustomResourceDefinition", "TooLargeForStatus", "RecordNotUnderstood", "WebhookFailed"} {
		if e := v.event("", reason); e != nil && v.Driver == nil {
			all = append(all, Reason{Cause: held[reason], Summary: e.Message, Evidence: v.eventEvidence(e)})
		}
	}
	if len(v.Invalid) > 0 && (v.Record == nil || v.state.Initializing()) {
		all = append(all, Reason{
			Cause: SpecRefused, Summary: diagnosis.InvalidSpec(v.Invalid.Err()).Message(), Evidence: "The spec of the object has it.",
		})
	}
	suspendedElsewhere := v.Inherited && v.Suspended && v.Driver == nil && v.end == nil
	switch {
	case v.Suspended && v.Record == nil, suspendedElsewhere:
		all = append(all, Reason{
			Cause: Suspended, Summary: "The launch is held by spec.suspend.", Evidence: "The field spec.suspend of the object is true.",
			Remedy: "Set spec.suspend to false.", Verb: "resume",
		})
	case v.Record == nil && v.Shown == "" && len(v.Conditions) == 0 && len(all) == 0:
		all = append(all, v.notPickedUp())
	case v.Record == nil && v.Shown != "":
		all = append(all, Reason{
			Cause: NotServed, Summary: fmt.Sprintf("The status is another operator's and cannot be understood: the state is %s.", v.Shown),
			Evidence: v.writtenBy(), Remedy: "To run the application with Firesteel, delete it and apply it again.",
		})
	}
	return all
}

func (v *view) notPickedUp() Reason {
	return Reason{
		Cause: NotPickedUp, Summary: "No operator has begun with it.",
		Evidence: fmt.Sprintf("It was created %s ago and has no status.", v.age(v.Created)),
		Remedy: "Make sure that a controller runs (kubectl -n firesteel-system get pods), and that config-scope has the namespace: " +
			"watched-namespaces, namespace-selector, label-selector.",
	}
}

// writtenBy returns a sentence about who wrote the status.
func (v *view) writtenBy() string {
	if v.StatusWriter == "" {
		return "The status has no status.firesteel."
	}
	return fmt.Sprintf("The status has no status.firesteel, and %s wrote it.", v.StatusWriter)
}

// handlers returns a handler that has not acted, and events that were not delivered.
func (v *view) handlers() (all []Reason) {
	if c := v.condition(conditionHandlerAnswered); c != nil && c.Status == metav1.ConditionFalse {
		all = append(all, Reason{Cause: HandlerSilent, Summary: c.Message, Evidence: v.conditionEvidence(c), Beside: v.state.Running()})
	}
	if c := v.condition(conditionEventsDelivered); c != nil && c.Status == metav1.ConditionFalse {
		all = append(all, Reason{
			Cause: EventsUndelivered, Summary: c.Message, Evidence: v.conditionEvidence(c), Beside: true,
			Remedy: "Repair the sink that K_SINK of the controller names.",
		})
	}
	return all
}

// backOff returns when the next attempt starts, or that its handler has to decide.
func (v *view) backOff() []Reason {
	c := v.condition(conditionSucceeded)
	switch {
	case v.state == lifecycle.ScheduledToRestart:
		r := Reason{Cause: BackOff, Summary: fmt.Sprintf("Attempt %d waits for its start.", v.Record.Attempt.ID), Evidence: "The record has the state ScheduledToRestart."}
		if c != nil && c.Message != "" {
			r.Summary, r.Evidence = c.Message, v.conditionEvidence(c)
		}
		if verdict := v.Record.Verdict; verdict != nil && verdict.NotBefore != nil && v.Now.Before(verdict.NotBefore.Time) {
			r.Evidence = fmt.Sprintf("The verdict in status.firesteel allows the attempt from %s on, in %s.",
				verdict.NotBefore.UTC().Format(time.RFC3339), v.age(v.Now.Add(-verdict.NotBefore.Sub(v.Now))))
		}
		return []Reason{r}
	case v.state.AttemptEnded() && v.end != nil && v.end.restartAllowed && v.condition(conditionHandlerAnswered) == nil:
		return []Reason{{
			Cause: BackOff, Summary: "The handler restart decides whether another attempt follows.",
			Evidence: fmt.Sprintf("The attempt ended %s ago, and the spec allows another one.", v.age(v.end.at)),
		}}
	default:
		return nil
	}
}

// notes returns facts that do not explain the state of the application, and that its user should know.
func (v *view) notes() (all []Reason) {
	if v.Deleted {
		r := Reason{Cause: BeingDeleted, Summary: "The application is being deleted.", Evidence: "The object has a deletionTimestamp.", Beside: v.end != nil}
		if e := v.event("", "EventsUndelivered", "DriverLeftTerminating"); e != nil {
			r.Summary, r.Evidence = e.Message, v.eventEvidence(e)
		}
		all = append(all, r)
	}
	if c := v.condition(conditionLabelsChanged); c != nil && c.Status == metav1.ConditionTrue {
		all = append(all, Reason{Cause: DriverLabelsChanged, Summary: c.Message, Evidence: v.conditionEvidence(c), Beside: true})
	}
	for _, found := range v.Warnings {
		if found.Field == "spec" || found.Field == "spec.suspend" {
			verb := "rerun"
			if found.Field == "spec.suspend" {
				verb = "delete"
			}
			all = append(all, Reason{
				Cause: EditedTooLate, Summary: found.Sentence(), Beside: true, Verb: verb,
				Evidence: "The attempt that runs has another spec than the object has now.",
			})
		}
	}
	if c := v.condition(conditionWarning); c != nil && c.Status == metav1.ConditionTrue && len(all) == 0 {
		all = append(all, Reason{Cause: SpecNotHonored, Summary: c.Message, Evidence: v.conditionEvidence(c), Beside: true})
	}
	if v.Inherited {
		all = append(all, Reason{
			Cause: OtherOperatorRuns, Summary: "Another operator runs this application.", Evidence: v.writtenBy(), Beside: true,
		})
	}
	return all
}
