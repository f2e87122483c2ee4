package diagnosis

import (
	"regexp"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

// Explanation is why something is as it is, with the remedy.
type Explanation struct {
	// Status is that of the condition that the explanation is for.
	Status metav1.ConditionStatus
	// Reason is that of the condition, in CamelCase.
	Reason string
	// Summary is a sentence about the facts. Remedy is what to do; empty if there is nothing to do.
	Summary, Remedy string
	// Until is when the object goes on by itself; zero if that is not known.
	Until time.Time
	// See names the object to look at next: a Pod with its node, or a handler. It is empty if there is none.
	See string
}

// Message returns summary and remedy as one text.
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

// Cause returns the explanation as the cause of a wait or an end. class is the class of the end.
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

// The API server refuses the whole status if the reason of a condition does not match.
var reasonPattern = regexp.MustCompile(`^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$`)

// Reason returns a reason that a webhook or a scheduler gave if a condition may have it, and otherwise the fallback.
func Reason(given, fallback string) string {
	if reasonPattern.MatchString(given) {
		return given
	}
	return fallback
}
