package diagnosis

import (
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/finding"
)

// Scheduled explains whether further runs of a schedule will start. refusal is why its spec has no next run; nil if it has one.
func Scheduled(refusal *finding.Finding, suspended bool) Explanation {
	switch {
	case refusal != nil:
		return Explanation{Status: metav1.ConditionFalse, Reason: refusal.Reason, Summary: refusal.Error(), See: refusal.Field}
	case suspended:
		explanation := conditionFalse("Suspended", "No run starts while spec.suspend is true.")
		explanation.Remedy = "To start runs, set it to false."
		return explanation
	default:
		return conditionTrue(string(v1alpha1.ScheduleStateScheduled), "")
	}
}

// RunStarted explains whether the last due run of a schedule was started. It returns nil if none was due yet.
func RunStarted(record *v1alpha1.ScheduleRecord) *Explanation {
	var explanation Explanation
	switch last := record.Last; {
	case record.Held != nil:
		explanation = heldRun(record)
	case last == nil:
		return nil
	case last.UID == "":
		explanation = RunNotStarted(last)
	default:
		explanation = conditionTrue("Started", fmt.Sprintf("%s was started for %s.", last.Name, inUTC(last.ScheduledTime)))
		explanation.See = last.Name
	}
	return &explanation
}

// heldRun explains what a due run waits for.
func heldRun(record *v1alpha1.ScheduleRecord) Explanation {
	due, running := inUTC(record.Held.ScheduledTime), runs(record.Active)
	explanation := conditionFalse("WaitsForRunningRun", fmt.Sprintf("The run due at %s waits for the end of %s; it is missed if the next run is due before that.", due, running))
	if record.Held.Policy == v1alpha1.ConcurrencyReplace {
		explanation = conditionFalse("ReplacesRunningRun", fmt.Sprintf("The run due at %s starts when %s is gone; its deletion was accepted.", due, running))
	}
	if len(record.Active) > 0 {
		explanation.See = record.Active[0].Name
	}
	return explanation
}

// RunNotStarted explains why a due run was not started.
func RunNotStarted(run *v1alpha1.ScheduledRun) Explanation {
	return conditionFalse(run.Reason, fmt.Sprintf("The run due at %s was not started: %s", inUTC(run.ScheduledTime), run.Message))
}

// RunsMissed explains that due runs of a schedule were not started.
func RunsMissed(count int64) Explanation {
	return conditionFalse("RunsMissed", fmt.Sprintf("%d run(s) were not started in time.", count))
}

func inUTC(at metav1.Time) string { return at.UTC().Format(time.RFC3339) }

// maxRuns bounds the runs that a message names.
const maxRuns = 3

func runs(active []v1alpha1.RunReference) string {
	var names []string
	for _, run := range active[:min(len(active), maxRuns)] {
		names = append(names, run.Name)
	}
	if more := len(active) - maxRuns; more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	if len(names) == 0 {
		return "the running run"
	}
	return strings.Join(names, ", ")
}
