package schedule

import "github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"

// maxUnknown bounds the fields of a record that this version of Firesteel does not know, in bytes of JSON.
const maxUnknown = 8 * 1024

// boundUnknown drops unknown fields of a record, those of its runs first, if there are too many.
func boundUnknown(record *v1alpha1.ScheduleRecord) {
	var held []*v1alpha1.UnknownFields
	for _, runs := range [][]v1alpha1.RunReference{record.Surplus, record.Active} {
		for i := range runs {
			held = append(held, &runs[i].Unknown)
		}
	}
	if record.Held != nil {
		held = append(held, &record.Held.Unknown)
	}
	if record.Begun != nil {
		held = append(held, &record.Begun.Unknown)
	}
	if record.Last != nil {
		held = append(held, &record.Last.Unknown)
	}
	v1alpha1.BoundUnknown(append(held, &record.Unknown), maxUnknown)
}
