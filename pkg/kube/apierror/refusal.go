// Package apierror tells what the API server's last word is from what can pass.
package apierror

import (
	"errors"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The reasons of refusals that something can be done about.
const (
	QuotaExceeded = "QuotaExceeded"
	// NoAccount is where a Pod's service account does not exist.
	NoAccount = "ServiceAccountNotFound"
	// Invalid is where the API server finds a fault in an object, and names the field of that.
	Invalid = string(metav1.StatusReasonInvalid)
	// NoKind is where the cluster has no such kind of object.
	NoKind = "NotInstalled"
	// NameTaken is where somebody else's object has the name.
	NameTaken = "NameTaken"
)

// ForGood says that the same request will be refused again: a quota, a webhook, an invalid object. What can pass is
// retried: conflicts, overload, errors of the server, and a namespace or credentials that may return.
func ForGood(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return false
	}
	switch code := int(status.Status().Code); code {
	case http.StatusUnauthorized, http.StatusNotFound, http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests:
		return false
	default:
		return code >= 400 && code < 500 && !OwnerUnknown(err)
	}
}

// OwnerUnknown reports whether an object was refused since the API server does not know the kind of its owner yet. The admission
// plugin OwnerReferencesPermissionEnforcement reads the kinds every 30 s, so it does not know one whose CRD was just created.
func OwnerUnknown(err error) bool {
	return apierrors.IsForbidden(err) && strings.Contains(err.Error(), "cannot find RESTMapping for APIVersion")
}

// NotInstalled says that the cluster has no such kind of object: the API server knows no such path. Where a namespace is
// gone its answer says so.
func NotInstalled(err error) bool {
	return apierrors.IsNotFound(err) && apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
}

// Reason is the reason of a refusal, in one word.
func Reason(err error) string {
	text := err.Error()
	var answer apierrors.APIStatus
	switch reason := apierrors.ReasonForError(err); {
	case strings.Contains(text, "exceeded quota"):
		return QuotaExceeded
	case strings.Contains(text, "error looking up service account"):
		return NoAccount
	case NotInstalled(err):
		return NoKind
	case reason != metav1.StatusReasonUnknown:
		return string(reason)
	case errors.As(err, &answer):
		return "Refused" // by a webhook that gives no reason
	default:
		return NameTaken
	}
}
