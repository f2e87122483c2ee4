package diagnosis

import (
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/internal/text"
	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
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

// maxCause bounds the text of a decoder, so that the remedy after it is not cut off.
const maxCause = 2048

// ReasonUndecodable is the reason of an object that cannot be decoded.
const ReasonUndecodable = "Undecodable"

// Undecodable explains why nothing is done for an object that cannot be decoded. noun is what people call it, such as application;
// cause is the decoder's text, redacted: it is cut here.
func Undecodable(noun, cause string) Explanation {
	return Explanation{
		Status: metav1.ConditionUnknown, Reason: ReasonUndecodable,
		Summary: fmt.Sprintf("The %s cannot be decoded, and nothing is done for it: %s.", noun, strings.TrimRight(text.Clip(cause, maxCause), ".")),
		Remedy:  fmt.Sprintf("Correct the field and apply the %s again.", noun),
	}
}

// AnotherOperatorActive explains why Firesteel does not touch an application whose status another operator writes. Firesteel waits until no other
// writer has written it for the time quiet. until is the end of that time, if no other writer writes again.
func AnotherOperatorActive(quiet time.Duration, until time.Time) Explanation {
	return Explanation{
		Status: metav1.ConditionUnknown, Reason: "AnotherOperatorActive",
		Summary: fmt.Sprintf("Another operator runs this application too: it wrote the status and dropped status.firesteel. Firesteel leaves "+
			"the application alone until no other writer has written its status for %s.", quiet),
		Remedy: "Stop the other operator, or remove Firesteel.",
		Until:  until,
	}
}

// NotAdopted explains why an application of another operator is not taken over. cause begins with the field of the status.
func NotAdopted(cause error) Explanation {
	return Explanation{
		Status: metav1.ConditionUnknown, Reason: "NotAdopted",
		Summary: fmt.Sprintf("The status is another operator's and cannot be understood: status.%s. What runs is left alone.", cause),
		Remedy:  "To run the application with Firesteel, delete it and apply it again.",
	}
}

// Adopted explains that an application of another operator was taken over.
func Adopted(record *v1alpha1.Record) Explanation {
	return conditionTrue("Adopted", fmt.Sprintf("Taken over as it was left: attempt %d, %s.", record.Attempt.ID, outbox.Current(record).State))
}

// EarlierDriver explains why an application waits for a driver Pod that is not the current attempt's.
func EarlierDriver(driver *lifecycle.Driver) Explanation {
	return Explanation{
		Status: metav1.ConditionUnknown, Reason: "EarlierDriver",
		Summary: fmt.Sprintf("A driver Pod is not the current attempt's. It is deleted, and the application goes on once it is gone: %s.",
			driver.DescribeTerminating()),
		See: driver.Name,
	}
}

// StatusRestored explains that a record which another writer removed was restored.
func StatusRestored() Explanation {
	explanation := conditionTrue("StatusRestored", "status.firesteel was removed, which is the record of what runs; it is restored.")
	explanation.Remedy = "To start again, delete the application and apply it again."
	return explanation
}

// RecordNotStored explains why nothing is done for an object whose record the API server does not store. definition is the name of
// the CustomResourceDefinition, manifest the file that has Firesteel's own.
func RecordNotStored(definition, manifest string) Explanation {
	return Explanation{
		Status: metav1.ConditionUnknown, Reason: "WrongCustomResourceDefinition",
		Summary: fmt.Sprintf("The API server does not store status.firesteel: the CustomResourceDefinition %s is another operator's, or that "+
			"of an earlier version of Firesteel. Nothing is done for the object.", definition),
		Remedy: fmt.Sprintf("Apply %s.", manifest),
		See:    definition,
	}
}

// TooLargeForRecord explains that the API server does not store the record of an object, since the object would be too large.
func TooLargeForRecord() Explanation {
	return Explanation{
		Status: metav1.ConditionUnknown, Reason: "TooLargeForStatus",
		Summary: "The API server does not store status.firesteel: with it, the object is larger than one request may be. Nothing is done for the object.",
		Remedy:  "Make its spec smaller.",
	}
}

// SpecAdopted explains that Firesteel cannot know whether a spec was edited.
func SpecAdopted(record *v1alpha1.Record) Explanation {
	var generation int64
	if noted := record.Attempt.Spec; noted != nil {
		generation = noted.Generation
	}
	return Explanation{
		Status: metav1.ConditionUnknown, Reason: "SpecAdopted",
		Summary: fmt.Sprintf("metadata.generation is %d: Firesteel cannot know whether spec was edited, since another version of Firesteel "+
			"recorded the spec of attempt %d. The attempt counts as one of the present spec.", generation, record.Attempt.ID),
		Remedy: "To run an edit, edit spec again.",
	}
}
