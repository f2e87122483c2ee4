package chaos

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/test/invariants"
)

// wanted are the faults that a run must inject to prove enough.
func wanted() []string {
	wanted := append(slices.Clone(wantedAlways), wantedOfStorage()...)
	if *versionsFlag == "" {
		wanted = append(wanted, wantedOfPods...)
	}
	if *restoreFlag {
		wanted = append(wanted, "api restored", "api restored, versions used again")
	}
	return wanted
}

// wantedOfPods are those that the earlier of two versions need not survive.
var wantedOfPods = []string{
	"labels taken", "labels put back", "node lost", "node came back", "node deleted", "node out of service",
}

var wantedAlways = []string{
	"api 409", "api 410", "api 429", "api 500", "api 503", "api 504", "api answer lost", "api request lost", "api late",
	"api outage", "watch cut", "watch stale",
	"sink dead subscriber", "sink slow subscriber",
	"sink 400", "sink 429", "sink 500", "sink 503", "sink cut", "sink hang", "sink taken, 500", "sink taken, cut",
	"kill controller", "kill sink", "kill handler-restart", "kill handler-ttl", "kill kwok", "kill webhook",
	webhookRefuses, webhookPassedOver,
	"pod vanished", "pod deleted", "application deleted", "application replaced", "application edited", "application suspended", "application stopped",
	"quota toggled", "handlers moved", "event repeated", "event forged",
}

// checkInvariants reports each violation in the history of the run.
func (r *run) checkInvariants() {
	r.supervisor.RemoveAll()
	r.stop()
	r.must(r.listening.Wait())
	r.Logf("faults:\n%s", r.counters)
	for _, fault := range r.counters.missing(wanted()) {
		r.fail("no fault was injected of the kind %q: the run proves too little", fault)
	}
	for i, violation := range append(r.violations(), texts(r.history.Unpersisted())...) {
		if i == 20 {
			r.fail("and more")
			break
		}
		r.fail("%s", violation)
	}
	ended := map[string]int{}
	for _, app := range r.history.Applications() {
		r.check(r.asItShould(app))
		ended[app.Labels[labelKind]]++
	}
	r.checkArchive(r.history.Applications())
	var kindsSeen []string
	for _, k := range drawn() {
		kindsSeen = append(kindsSeen, fmt.Sprintf("%d %s", ended[k.name], k.name))
	}
	r.Logf("applications: %s", strings.Join(kindsSeen, ", "))
	r.Logf("memory at most: %s", r.supervisor.PeakMemory())
	r.logf("judged")
}

func (r *run) check(err error) {
	if err != nil {
		r.fail("%v", err)
	}
}

// asItShould returns how an application's transitions differ from the expected ones.
func (r *run) asItShould(app *invariants.Application) error {
	transitions := app.Transitions()
	if len(transitions) == 0 || app.Lost() {
		return nil // it was deleted before any reconcile, or a restore undid it
	}
	name := fmt.Sprintf("%s, which %s,", app.Object.Key(), app.Labels[labelKind])
	if app.Outcome() == "" || !app.Ended() || !app.Gone() {
		return fmt.Errorf("%s did not come to its end: %s", name, describeTransitions(transitions))
	}
	if !strings.HasPrefix(app.Object.Namespace, "calm-") {
		return nil
	}
	k, got := kindOf(app.Labels[labelKind]), app.Ends()
	want := k.states()
	if k.name == startsOver {
		want = slices.Repeat([]string{string(lifecycle.Succeeded)}, len(got))
	}
	if !slices.Equal(got, want) {
		return fmt.Errorf("%s has attempts that end with %v, want %v: %s", name, got, want, describeTransitions(transitions))
	}
	if outcome := outcomeOf(transitions); app.Outcome() != outcome {
		return fmt.Errorf("%s ends as %s, want %s: %s", name, app.Outcome(), outcome, describeTransitions(transitions))
	}
	least, most := 1, 1
	if k.kubeflow != nil { // all attempts' drivers have the same name
		least = max(1, len(want))
		most = least
	}
	if k.name == startsOver { // and one may have been at work as it was deleted
		most = len(got) + 1
	}
	for pod, count := range app.Drivers() {
		if count < least || count > most {
			return fmt.Errorf("%s had %d drivers named %s: %s", name, count, pod, describeTransitions(transitions))
		}
	}
	return nil
}

// outcomeOf returns the outcome of the last attempt: Deleted if it had not ended.
func outcomeOf(transitions []v1alpha1.Transition) string {
	last := transitions[len(transitions)-1].Attempt
	for _, t := range slices.Backward(transitions) {
		if t.End != nil && t.Attempt == last {
			return t.End.Outcome
		}
	}
	return v1alpha1.OutcomeDeleted
}

func describeTransitions(transitions []v1alpha1.Transition) string {
	var text strings.Builder
	for _, t := range transitions {
		fmt.Fprintf(&text, "\n  %3d  %s  attempt %d  %s  %s", t.Sequence, t.Time.Format("15:04:05.000"), t.Attempt, t.State, t.Message)
	}
	return text.String()
}
