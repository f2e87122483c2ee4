package diagnosis

import (
	"regexp"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

// Explanation says why something is as it is.
type Explanation struct {
	// Status is that of the condition that the explanation is for.
	Status metav1.ConditionStatus
	// Reason is that of the condition, in CamelCase.
	Reason string
	// Summary says what is so, and Remedy what to do about it. Remedy is empty if there is nothing to do.
	Summary, Remedy string
	// Until is when it goes on by itself; zero if that is not known.
	Until time.Time
	// See names what to look at: a Pod with its node, or a handler. It is empty if nothing else says more.
	See string
}

// Message prints summary and remedy.
func (e Explanation) Message() string {
	switch {
	case e.Remedy == "" || e.Summary == "":
		return e.Summary + e.Remedy
	case strings.HasSuffix(e.Summary, "."):
		return e.Summary + " " + e.Remedy
	default:
		return e.Summary + "; " + e.Remedy
	}
}

// Cause returns the explanation as the cause of a wait, of a class of ends.
func (e Explanation) Cause(class string) *lifecycle.Cause {
	return &lifecycle.Cause{Class: class, Reason: e.Reason, Message: e.Message()}
}

// Condition returns the condition of a type for the explanation.
func (e Explanation) Condition(kind string) metav1.Condition {
	return metav1.Condition{Type: kind, Status: e.Status, Reason: e.Reason, Message: e.Message()}
}

func conditionTrue(reason, summary string) Explanation {
	return Explanation{Status: metav1.ConditionTrue, Reason: reason, Summary: summary}
}

func conditionFalse(reason, summary string) Explanation {
	return Explanation{Status: metav1.ConditionFalse, Reason: reason, Summary: summary}
}

// The API server refuses a whole status, for good, if the reason of a condition is anything else.
var reasonPattern = regexp.MustCompile(`^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$`)

// Reason returns a reason of a webhook's or a scheduler's, if a condition may have it.
func Reason(given, fallback string) string {
	if reasonPattern.MatchString(given) {
		return given
	}
	return fallback
}
