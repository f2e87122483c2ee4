// Package apierror distinguishes terminal errors of the API server, which the same request gets again, from those that pass. It also
// names the reasons of refusals.
package apierror

import (
	"errors"
	"net/http"
	"regexp"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The reasons of refusals for which there is a remedy.
const (
	QuotaExceeded = "QuotaExceeded"
	// ServiceAccountNotFound means that a Pod's service account does not exist.
	ServiceAccountNotFound = "ServiceAccountNotFound"
	// Invalid means that the API server found a fault in an object. Its message names the field.
	Invalid = string(metav1.StatusReasonInvalid)
	// Forbidden means that a right is missing, or that an admission plugin or a webhook refused the request.
	Forbidden = string(metav1.StatusReasonForbidden)
	// Refused means that a webhook refused the request and gave no reason.
	Refused = "Refused"
	// NotInstalled means that the cluster has no such kind of object.
	NotInstalled = "NotInstalled"
	// NameTaken means that another owner's object has the name.
	NameTaken = "NameTaken"
)

// IsTerminal reports whether the API server will refuse the same request again: because of a quota, a webhook or an invalid object.
// Any other error passes, and the request is retried: conflicts, overload, errors of the server, and a namespace or credentials
// that may return.
//
// Only this function decides that. A caller that knows more of its request adds a case: for the schedule handler "not found" is
// terminal, too.
func IsTerminal(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return false
	}
	switch code := int(status.Status().Code); code {
	case http.StatusUnauthorized, http.StatusNotFound, http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests:
		return false
	default:
		return code >= 400 && code < 500 && !isOwnerUnknown(err)
	}
}

// isOwnerUnknown reports whether an object was refused because the API server does not know the kind of its owner yet. The
// admission plugin OwnerReferencesPermissionEnforcement reads the kinds every 30 s, so it does not know one whose CRD was just
// created.
func isOwnerUnknown(err error) bool {
	return apierrors.IsForbidden(err) && strings.Contains(err.Error(), "cannot find RESTMapping for APIVersion")
}

// IsNotInstalled reports whether the cluster has no such kind of object: the API server does not know the path. If instead the
// namespace is gone, the response says so.
func IsNotInstalled(err error) bool {
	return apierrors.IsNotFound(err) && apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
}

// IsNodePortsExhausted reports whether a Service was not created because all node ports of the cluster are in use. The API server calls
// that an internal error.
func IsNodePortsExhausted(err error) bool {
	return apierrors.IsInternalError(err) && strings.Contains(err.Error(), "failed to allocate a nodePort: range is full")
}

// failedWebhook finds the webhook in the API server's message about one that it cannot call.
var failedWebhook = regexp.MustCompile(`failed calling webhook "([^"]+)"`)

// FailedWebhook returns the name of the webhook that the API server needs for a request and cannot call; empty if there is none.
func FailedWebhook(err error) string {
	if !apierrors.IsInternalError(err) {
		return ""
	}
	if match := failedWebhook.FindStringSubmatch(err.Error()); match != nil {
		return match[1]
	}
	return ""
}

// Reason returns the reason of a refusal, in one word.
func Reason(err error) string {
	text := err.Error()
	var answer apierrors.APIStatus
	switch reason := apierrors.ReasonForError(err); {
	case strings.Contains(text, "exceeded quota"):
		return QuotaExceeded
	case strings.Contains(text, "error looking up service account"):
		return ServiceAccountNotFound
	case IsNotInstalled(err):
		return NotInstalled
	case reason != metav1.StatusReasonUnknown:
		return string(reason)
	case errors.As(err, &answer):
		return Refused
	default:
		return NameTaken
	}
}
