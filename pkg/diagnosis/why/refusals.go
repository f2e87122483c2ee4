package why

import (
	"fmt"
	"strings"

	"github.com/firesteel-dev/firesteel/pkg/diagnosis"
)

// The roles, as Spark's properties name them.
const (
	ofDriver    = "driver"
	ofExecutors = "executor"
)

// refused returns the cause if a text has a refusal of the API server; nil if it has none. role is the role of the refused Pods.
func (v *view) refused(words, role, evidence string) *Reason {
	r := Reason{Summary: refusalIn(words), Evidence: evidence}
	switch {
	case strings.Contains(words, "exceeded quota"):
		r.Cause, r.Remedy = QuotaTooSmall, diagnosis.AskLess
		if role == ofExecutors {
			r.Cause = QuotaRefusesExecutors
		}
		r.Changes = v.lessOf(words, role)
	case strings.Contains(words, "violates PodSecurity"):
		r.Cause, r.Remedy = PodSecurityViolated, "Let Firesteel complete the Pods (pod-security of config-admission), or change what the message names."
	case strings.Contains(words, "failed calling webhook"):
		explained := diagnosis.WebhookFailed(quotedAfter(words, "failed calling webhook "))
		r.Cause, r.Summary, r.Remedy = WebhookUnavailable, explained.Summary, explained.Remedy
	case strings.Contains(words, "admission webhook") && strings.Contains(words, "denied the request"):
		r.Cause, r.Remedy = WebhookRefused, fmt.Sprintf("Change what the webhook %s names, or ask who owns it.", quotedAfter(words, "admission webhook "))
	case strings.Contains(words, "error looking up service account"), strings.Contains(words, "serviceaccount \"") && strings.Contains(words, "not found"):
		r.Cause, r.Remedy = ServiceAccountMissing, v.withGrant("Create the account and give it the rights of a driver, or name one that exists")
		r.Changes = []Change{{ofDriver + "." + ServiceAccount, "spark"}}
	case strings.Contains(words, "cannot ") && strings.Contains(words, " resource "):
		if role == ofDriver {
			r.Cause, r.Remedy = ObjectRefused, "Give the account that the message names the right."
			break
		}
		r.Cause, r.Remedy = DriverForbidden, v.withGrant("Give the account the rights of a driver, or name one that has them")
		r.Changes = []Change{{ofDriver + "." + ServiceAccount, "spark"}}
	case strings.Contains(words, "namespaces \"") && strings.Contains(words, "not found"), strings.Contains(words, "because it is being terminated"):
		r.Cause, r.Remedy = NamespaceMissing, "Create the namespace again, and apply the application there."
	case strings.Contains(words, "was refused:"), strings.Contains(words, " is invalid: "), strings.Contains(words, " is forbidden: "):
		r.Cause = ObjectRefused
	default:
		return nil
	}
	if strings.Contains(words, "; "+launchRemedy) || strings.Contains(words, "rights of a driver") {
		r.Remedy = "" // the summary has it
	}
	return &r
}

// launchRemedy is the beginning of the remedy that the controller adds to the refusal of a quota.
const launchRemedy = "raise the quota"

// withGrant adds the command that gives the driver's account its rights.
func (v *view) withGrant(remedy string) string {
	if v.Grant == "" {
		return remedy + "."
	}
	return remedy + ": " + v.Grant
}

// lessOf returns changes with which a role asks for less of the resource that a quota lacks.
func (v *view) lessOf(words, role string) []Change {
	_, requested, _ := strings.Cut(words, "requested: ")
	requested, _, _ = strings.Cut(requested, ", used")
	switch {
	case strings.Contains(requested, "memory"):
		return v.lessHeap(role)
	case strings.Contains(requested, "cpu"):
		return v.fewerCores(role)
	default:
		return nil
	}
}

// refusalIn returns the API server's sentence in a text, such as a line of a log.
func refusalIn(words string) string {
	if _, message, found := strings.Cut(words, "Message: "); found {
		message, _, _ = strings.Cut(message, ". Received status")
		return strings.TrimSuffix(message, ".") + "."
	}
	return words
}

// quotedAfter returns the text in quotes after a beginning; empty if there is none.
func quotedAfter(words, beginning string) string {
	_, rest, _ := strings.Cut(words, beginning+`"`)
	name, _, found := strings.Cut(rest, `"`)
	if !found {
		return ""
	}
	return name
}
