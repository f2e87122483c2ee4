package v1alpha1

import "github.com/firesteel-dev/firesteel/pkg/kube/codec"

const (
	// Format is the format of the records that this version of Firesteel writes. Raise it only if an older version would do
	// harm by acting on a record: that version then does nothing for the object.
	Format = 1
	// FormatUnreadable stands for a format that is no positive integer.
	FormatUnreadable = codec.FormatUnreadable
)

// HasNewerFormat reports whether a newer version of Firesteel wrote the record in a format that this one does not know. Such a record
// holds its format and Unknown only, which is all of it.
func (r *Record) HasNewerFormat() bool { return r != nil && codec.IsNewerFormat(r.Format, Format) }

// HasNewerFormat reports whether the record has a format that this version of Firesteel does not know.
func (r *ScheduleRecord) HasNewerFormat() bool {
	return r != nil && codec.IsNewerFormat(r.Format, Format)
}

// UnmarshalJSON decodes a record. It decodes nothing but the format if that is not known. The JSON libraries look for this
// method at the type.
func (r *Record) UnmarshalJSON(data []byte) error {
	type plain Record
	return codec.SplitRecord(data, Format, (*plain)(r), &r.Format, &r.Unknown)
}

// MarshalJSON encodes the known and the unknown fields. A record of an unknown format is as it was decoded.
func (r Record) MarshalJSON() ([]byte, error) {
	type plain Record
	return codec.JoinRecord(Format, plain(r), r.Format, r.Unknown)
}

// UnmarshalJSON decodes a record as that of an application.
func (r *ScheduleRecord) UnmarshalJSON(data []byte) error {
	type plain ScheduleRecord
	return codec.SplitRecord(data, Format, (*plain)(r), &r.Format, &r.Unknown)
}

// MarshalJSON encodes a record as that of an application.
func (r ScheduleRecord) MarshalJSON() ([]byte, error) {
	type plain ScheduleRecord
	return codec.JoinRecord(Format, plain(r), r.Format, r.Unknown)
}
