package why

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// troubles are the conditions of clusters and schedules that report a problem, with the status that does. Problems in spite of which the object
// goes on (beside) are last.
var troubles = []struct {
	kind   string
	status metav1.ConditionStatus
	beside bool
}{
	{"Ready", metav1.ConditionFalse, false},
	{"Ready", metav1.ConditionUnknown, false},
	{"Scheduled", metav1.ConditionFalse, false},
	{"Scheduled", metav1.ConditionUnknown, false},
	{"RunStarted", metav1.ConditionFalse, false},
	{"UpToDate", metav1.ConditionFalse, false},
	{conditionHandlerAnswered, metav1.ConditionFalse, false},
	{conditionWarning, metav1.ConditionTrue, true},
	{conditionEventsDelivered, metav1.ConditionFalse, true},
}

// OfOther returns why a cluster or a schedule is in its state, from its conditions and from the Pods of a cluster. In the facts, these Pods are the
// executors. The causes are the reasons of the conditions.
func OfOther(facts Facts) []Reason {
	v := newView(facts)
	var all []Reason
	for _, trouble := range troubles {
		c := v.condition(trouble.kind)
		known := func(r Reason) bool { return c != nil && r.Cause == Cause(c.Reason) }
		if c == nil || c.Status != trouble.status || c.Message == "" || slices.ContainsFunc(all, known) {
			continue
		}
		all = append(all, Reason{Cause: Cause(c.Reason), Summary: v.clean(c.Message), Evidence: v.clean(v.conditionEvidence(c)), Beside: trouble.beside})
	}
	for _, pod := range facts.Executors {
		if pod.Status.Phase != corev1.PodPending {
			continue
		}
		for _, r := range v.pending(pod, "Pod "+pod.Name, ofExecutors) {
			r.Changes = nil
			r.Summary, r.Evidence = v.clean(r.Summary), v.clean(r.Evidence)
			if !slices.ContainsFunc(all, func(known Reason) bool { return known.Cause == r.Cause }) {
				all = append(all, r)
			}
		}
	}
	if len(all) == 0 && len(facts.Conditions) == 0 && facts.Shown == "" {
		all = append(all, v.notPickedUp())
	}
	return all
}
