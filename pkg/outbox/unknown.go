package outbox

import "github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"

// unknownOf are the unknown fields of a record in the order in which they are dropped.
func unknownOf(record *v1alpha1.Record) []*v1alpha1.UnknownFields {
	held := make([]*v1alpha1.UnknownFields, 0, 2*len(record.Transitions)+7)
	for i := range record.Transitions {
		t := &record.Transitions[i]
		if t.End != nil {
			held = append(held, &t.End.Unknown)
		}
		held = append(held, &t.Unknown)
	}
	if record.Verdict != nil {
		held = append(held, &record.Verdict.Unknown)
	}
	for _, attempt := range []*v1alpha1.Attempt{record.Previous, &record.Attempt} {
		if attempt == nil {
			continue
		}
		if attempt.Spec != nil {
			held = append(held, &attempt.Spec.Unknown)
		}
		held = append(held, &attempt.Unknown)
	}
	if record.Launch != nil {
		held = append(held, &record.Launch.Unknown)
	}
	return append(held, &record.Unknown)
}
