package diagnosis

import (
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/quota"
)

// Reasons about quotas.
const (
	// ReasonWaitingForQuota is that of an application or a cluster whose launch waits for room in the quotas of its namespace.
	ReasonWaitingForQuota = "WaitingForQuota"
	// ReasonQuotaWouldBeExceeded is that of an attempt that failed since it did not fit into the quotas.
	ReasonQuotaWouldBeExceeded = "QuotaWouldBeExceeded"
	// ReasonQuotaHoldTimedOut is that of an attempt that waited for room for too long.
	ReasonQuotaHoldTimedOut = "QuotaHoldTimedOut"
	// ReasonExecutorsExceedQuota is that of a running application whose executors a quota refuses.
	ReasonExecutorsExceedQuota = "ExecutorsExceedQuota"
)

// AskLess is the remedy for a quota that has no room.
const AskLess = "Raise the quota, or ask for less."

// WaitingForQuota explains why the launch of an application or a cluster is held.
func WaitingForQuota(namespace string, decision quota.Decision) Explanation {
	e := Explanation{Status: metav1.ConditionUnknown, Reason: ReasonWaitingForQuota}
	place := ""
	if decision.Place > 0 {
		place = fmt.Sprintf(" Place %d of %d in the queue.", decision.Place, decision.Queue)
	}
	switch decision.Kind() {
	case quota.TooLarge:
		e.Summary = fmt.Sprintf("It asks for more than a quota ever has: %s.", lacking(namespace, decision.Lacks))
		e.Remedy = AskLess
	case quota.Lacking:
		e.Summary = fmt.Sprintf("The launch waits for room: %s.%s", lacking(namespace, decision.Lacks), place)
	case quota.Passed:
		e.Summary = "The launch waits for one that has waited longer than quota-overtake." + place
	case quota.Refused:
		e.Summary = "The launch waits, since the API server refused one of its objects for a quota of its namespace."
	}
	return e
}

// WillWaitForQuota warns the user who applies something for which there is no room yet.
func WillWaitForQuota(namespace string, lacks []quota.Lack) string {
	return fmt.Sprintf("It will wait for room: %s.", lacking(namespace, lacks))
}

// MoreThanQuota warns the user whose dynamic allocation may ask for more executors than a quota ever has room for.
func MoreThanQuota(namespace string, executors int64, lacks []quota.Lack) string {
	return fmt.Sprintf("Dynamic allocation may ask for %d executors, and there is never room for as many: %s.", executors, lacking(namespace, lacks))
}

// QuotasUnknown explains why a launch is held before it is known whether a quota limits it.
func QuotasUnknown() Explanation {
	return Explanation{
		Status: metav1.ConditionUnknown, Reason: ReasonWaitingForQuota,
		Summary: "The launch waits, since ResourceQuotas, PriorityClasses or RuntimeClasses cannot be read yet.",
		Remedy:  "Look for errors of resourcequotas, priorityclasses and runtimeclasses in the log of the controller, or switch quota of config-admission off.",
	}
}

// lacking names the quotas that do not suffice.
func lacking(namespace string, lacks []quota.Lack) string {
	var parts []string
	for _, lack := range lacks {
		parts = append(parts, fmt.Sprintf("ResourceQuota %s/%s lacks %s", namespace, lack.Quota, lack))
	}
	return strings.Join(parts, "; ")
}

// QuotaFails explains why an application fails because it does not fit into the quotas. It begins like the Kubeflow operator's message.
func QuotaFails(kind, namespace, name string, decision quota.Decision) Explanation {
	e := Explanation{
		Status: metav1.ConditionFalse, Reason: ReasonQuotaWouldBeExceeded, Summary: WaitingForQuota(namespace, decision).Summary,
		Remedy: AskLess,
	}
	if len(decision.Lacks) > 0 {
		lack := decision.Lacks[0]
		e.Summary = fmt.Sprintf("failed to validate resource quota %q: %s %s/%s requests %s.",
			namespace+"/"+lack.Quota, kind, namespace, name, lack.Refusal())
	}
	return e
}

// QuotaHoldTimedOut explains why an attempt failed after it had waited for room too long.
func QuotaHoldTimedOut(waited Explanation, limit time.Duration) Explanation {
	return Explanation{
		Status: metav1.ConditionFalse, Reason: ReasonQuotaHoldTimedOut,
		Summary: fmt.Sprintf("%s It has waited for the %s of quota-hold-timeout.", waited.Summary, limit), Remedy: waited.Remedy,
	}
}

// ExecutorsExceedQuota explains why an application has fewer executors than it asks for.
func ExecutorsExceedQuota(namespace string, lacks []quota.Lack) Explanation {
	return Explanation{
		Status: metav1.ConditionUnknown, Reason: ReasonExecutorsExceedQuota,
		Summary: fmt.Sprintf("The quota refuses executors: %s.", lacking(namespace, lacks)),
		Remedy:  AskLess,
	}
}
