package why

import (
	"fmt"
	"strings"
	"time"

	"github.com/firesteel-dev/firesteel/pkg/diagnosis"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

// ending is how an attempt ended.
type ending struct {
	attempt                   int64
	state                     lifecycle.State
	class, reason             string
	exitCode                  *int32
	succeeded, restartAllowed bool
	at                        time.Time
	// message is the sentence, and quoted are the lines that the driver left.
	message, quoted string
	// shown is the evidence.
	shown string
}

// lastLines is the text before the lines of a log in the message of an end.
const lastLines = "Last lines of the log: "

// lastEnd returns how the last ended attempt ended; nil if none has. If another operator wrote the status, the Pod shows more than the status.
func (v *view) lastEnd() *ending {
	var last *ending
	if v.Record != nil {
		for i := len(v.Record.Transitions) - 1; i >= 0 && last == nil; i-- {
			t := v.Record.Transitions[i]
			if t.End == nil {
				continue
			}
			last = &ending{
				attempt: t.Attempt, state: lifecycle.State(t.State), class: t.End.Class, reason: t.End.Reason, exitCode: t.End.ExitCode,
				succeeded: t.End.Outcome == "Succeeded", restartAllowed: t.End.RestartAllowed, at: t.Time.Time,
			}
			last.setMessage(t.End.Message)
			last.shown = fmt.Sprintf("Attempt %d ended as %s %s ago.", t.Attempt, t.State, v.age(t.Time.Time))
		}
	}
	if v.observed == nil || v.observed.End == nil || last != nil && !v.Inherited || last != nil && last.attempt != v.Record.Attempt.ID {
		return last
	}
	end := v.observed.End
	seen := &ending{
		state: end.State, class: end.Cause.Class, reason: end.Cause.Reason, exitCode: end.Cause.ExitCode, succeeded: end.State == lifecycle.Succeeded,
		quoted: end.Cause.Detail, shown: fmt.Sprintf("Pod %s has the phase %s.", v.Driver.Name, v.Driver.Status.Phase),
	}
	if v.Record != nil {
		seen.attempt = v.Record.Attempt.ID
	}
	seen.message = end.Cause.Message
	if last != nil && last.succeeded == seen.succeeded {
		seen.at = last.at
	}
	return seen
}

func (e *ending) setMessage(message string) {
	message, lines, _ := strings.Cut(message, "\n"+lastLines)
	e.message, e.quoted, _ = strings.Cut(message, "\n")
	e.quoted += "\n" + lines
}

// ended returns why the last attempt failed.
func (v *view) ended() []Reason {
	e := v.end
	if e == nil || e.succeeded || v.Record == nil && v.observed == nil {
		return nil
	}
	if v.Record != nil && e.attempt != v.Record.Attempt.ID && !v.state.Initializing() {
		return []Reason{{
			Cause: EarlierAttempt, Summary: e.message, Beside: true,
			Evidence: fmt.Sprintf("Attempt %d ended as %s %s ago; the application went on.", e.attempt, e.state, v.age(e.at)),
		}}
	}
	var all []Reason
	for _, r := range v.failure(e) {
		if r.Summary == "" {
			r.Summary = e.message
		}
		if r.Evidence == "" {
			r.Evidence = e.shown
		}
		all = append(all, r)
	}
	return all
}

// ends are the causes by the reason of the end.
var ends = map[string]Reason{
	"Evicted":                            {Cause: Evicted, Remedy: "Ask for what the driver uses, memory or local storage, or give it a priority."},
	"EvictionByEvictionAPI":              {Cause: Evicted, Remedy: "A node was drained: allow another attempt in the restart policy, or protect the driver by a PodDisruptionBudget."},
	"TerminationByKubelet":               {Cause: Evicted, Remedy: "See the node: it was short of a resource, or shut down."},
	"PreemptionByScheduler":              {Cause: Preempted, Remedy: "Give the driver a higher priority class, or add nodes."},
	"DeletionByTaintManager":             {Cause: NodeLost, Remedy: "See the node; allow another attempt in the restart policy."},
	"DeletionByPodGC":                    {Cause: NodeLost, Remedy: "See the node; allow another attempt in the restart policy."},
	"NodeLost":                           {Cause: NodeLost, Remedy: "Make sure that the node is down, then delete the Node."},
	"NodeShutdown":                       {Cause: NodeStopped, Remedy: "See the node; allow another attempt in the restart policy."},
	"Terminated":                         {Cause: NodeStopped, Remedy: "See the node; allow another attempt in the restart policy."},
	"DriverDeleted":                      {Cause: DriverDeleted, Remedy: "The API server's audit log names who deleted it."},
	lifecycle.ReasonDriverLost:           {Cause: DriverDeleted, Remedy: "The API server's audit log names who deleted it; see the node, too."},
	"ActiveDeadlineExceeded":             {Cause: DeadlineExceeded, Remedy: "Raise the deadline, and apply the application again."},
	"DeadlineExceeded":                   {Cause: DeadlineExceeded, Remedy: "Raise activeDeadlineSeconds of the driver's template."},
	diagnosis.ReasonInvalidSpec:          {Cause: SpecRefused},
	"PodTemplateUnavailable":             {Cause: TemplateUnavailable, Remedy: "See the server of the template."},
	"ImagePullFailed":                    {Cause: ImagePullFailed, Changes: []Change{{Image, "IMAGE"}}},
	"NameTaken":                          {Cause: NameNotFree},
	diagnosis.ReasonQuotaWouldBeExceeded: {Cause: QuotaTooSmall},
	diagnosis.ReasonQuotaHoldTimedOut:    {Cause: QuotaTooSmall},
	"CreateContainerConfigError":         {Cause: ContainerNotCreated},
	"PodNotReadyToStartContainers":       {Cause: PodPreparing},
	"Unschedulable":                      {Cause: Unschedulable},
}

// failure returns the causes of a failed end, the most specific first.
func (v *view) failure(e *ending) []Reason {
	known, ok := ends[e.reason]
	switch {
	case e.class == lifecycle.ClassStopped:
		return []Reason{{Cause: Stopped, Remedy: "To run it again, create a new application from it.", Verb: "rerun"}}
	case e.state == lifecycle.SchedulingFailure && !ok:
		if r := v.refused(e.message, ofDriver, e.shown); r != nil {
			return []Reason{*r}
		}
		return []Reason{{Cause: ObjectRefused}}
	}
	switch {
	case e.reason == "OOMKilled":
		limit := limitOf(v.Driver, v.mainContainer())
		return []Reason{{Cause: DriverOutOfMemory, Evidence: v.requested(ofDriver, limit), Changes: []Change{v.moreOverhead(ofDriver, limit)}}}
	case e.reason == "Unschedulable":
		return v.wasUnschedulable(e.message)
	case e.state == lifecycle.DriverStartTimedOut || e.state == lifecycle.DriverReadyTimedOut || e.state == lifecycle.ExecutorsStartTimedOut:
		return v.timedOut(e, known)
	case ok && e.reason == "CreateContainerConfigError":
		if cause, remedy := missingObject(e.message); cause != "" {
			return []Reason{{Cause: cause, Remedy: remedy}}
		}
		return []Reason{known}
	case ok:
		return []Reason{known}
	}
	if e.state == lifecycle.DriverEvicted {
		return []Reason{ends["Evicted"]}
	}
	if found := v.inLog(e); len(found) > 0 {
		return found
	}
	return []Reason{v.exited(e)}
}

// timedOut returns what kept an attempt from starting in time.
func (v *view) timedOut(e *ending, known Reason) (all []Reason) {
	if known.Cause != "" {
		all = append(all, known)
	}
	if e.state == lifecycle.ExecutorsStartTimedOut {
		all = append(all, v.pendingExecutors()...)
	}
	all = append(all, v.inLog(e)...)
	return append(all, Reason{Cause: StartTimedOut, Summary: e.message, Evidence: e.shown, Remedy: "Remove what keeps the Pods from starting, or raise the limit."})
}

// wasUnschedulable returns why the driver had no node, by the message of a condition or of an end.
func (v *view) wasUnschedulable(message string) (all []Reason) {
	_, ofScheduler, found := strings.Cut(message, "cannot be scheduled: ")
	if !found {
		ofScheduler = message
	}
	for _, o := range obstacles(ofScheduler) {
		all = append(all, Reason{Cause: o.cause, Remedy: o.remedy, Changes: v.changesFor(o.cause, ofDriver)})
	}
	return all
}

// exited returns the cause of an end if only the exit code is known.
func (v *view) exited(e *ending) Reason {
	r := Reason{Cause: DriverExited, Remedy: "Read the driver's log: kubectl spark logs " + v.Name, Summary: e.message}
	if e.exitCode == nil {
		return r
	}
	switch *e.exitCode {
	case 101:
		r.Cause, r.Remedy, r.Changes = MainClassNotFound, "", []Change{{MainClass, "CLASS"}}
	case 126, 127:
		r.Cause, r.Remedy, r.Changes = ContainerCommandLost, "", []Change{{Image, "IMAGE"}}
	case 134:
		r.Cause = JVMCrashed
	case 52:
		r.Cause, r.Remedy, r.Changes = DriverHeapTooSmall, "", []Change{v.moreHeap(ofDriver)}
	case 11:
		r.Cause = ExecutorsLost
	case 124:
		r.Cause, r.Remedy = DeadlineExceeded, ""
	}
	return r
}

func (v *view) mainContainer() string {
	if v.Driver == nil {
		return v.MainContainer
	}
	return lifecycle.DriverContainer(&v.Driver.Status, v.MainContainer)
}
