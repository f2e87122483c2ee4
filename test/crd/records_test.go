package crd

import (
	"sigs.k8s.io/randfill"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
)

// ofRecords fills records of the format that is written, each part with a field of a newer version, which the schemas must keep.
func ofRecords() []any {
	return []any{
		func(record *v1alpha1.Record, c randfill.Continue) {
			c.FillNoCustom(record)
			record.Format = v1alpha1.Format
		},
		func(record *v1alpha1.ScheduleRecord, c randfill.Continue) {
			c.FillNoCustom(record)
			record.Format = v1alpha1.Format
		},
		func(unknown *v1alpha1.UnknownFields, _ randfill.Continue) { *unknown = `{"newer":{"much":[1]}}` },
	}
}
