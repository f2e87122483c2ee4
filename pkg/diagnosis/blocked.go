package diagnosis

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/outbox"
)

// NotUnderstood explains why nothing is done for an object whose record this version of Firesteel does not understand.
func NotUnderstood(record *v1alpha1.Record) Explanation {
	if record.HasNewerFormat() {
		return NewerFormat(record.Format)
	}
	return leftAlone(fmt.Sprintf("status.firesteel has the state %q, which this version of Firesteel does not know.",
		outbox.Clip(outbox.Current(record).State, outbox.MaxReason)))
}

// NewerFormat explains why nothing is done for an object whose record has a format that this version of Firesteel does not know.
func NewerFormat(format int64) Explanation {
	if format == v1alpha1.FormatUnreadable {
		return leftAlone("status.firesteel.format is no format that this version of Firesteel can read.")
	}
	return leftAlone(fmt.Sprintf("status.firesteel.format is %d, and this version of Firesteel knows formats up to %d.", format, v1alpha1.Format))
}

func leftAlone(what string) Explanation {
	return Explanation{
		Status: metav1.ConditionUnknown, Reason: "RecordNotUnderstood",
		Summary: what + " Nothing is done for the object, and what runs is left alone.",
		Remedy:  "Upgrade Firesteel to the version that wrote it, or delete the object.",
	}
}
