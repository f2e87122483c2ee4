package v1alpha1

import (
	"encoding/json"
	"math"

	"github.com/firesteel-dev/firesteel/pkg/decoding"
)

const (
	// Format is the format of the records that this version of Firesteel writes. Raise it only if an older version would do
	// harm by acting on a record: that version then does nothing for the object.
	Format = 1
	// FormatUnreadable stands for a format that is no positive integer.
	FormatUnreadable = math.MaxInt64
)

// Foreign reports whether a newer version of Firesteel wrote the record in a format that this one does not know. Such a record
// holds its format and Unknown only, which is all of it.
func (r *Record) Foreign() bool { return r != nil && isForeign(r.Format) }

// Foreign reports whether the record is in a format that this version of Firesteel does not know, as that of an application.
func (r *ScheduleRecord) Foreign() bool { return r != nil && isForeign(r.Format) }

func isForeign(format int64) bool { return format < 0 || format > Format }

// UnmarshalJSON decodes a record. It decodes nothing but the format if that is not known.
func (r *Record) UnmarshalJSON(data []byte) error {
	type plain Record
	err := split(data, (*plain)(r), &r.Unknown)
	if err == nil && !r.Foreign() {
		return nil
	}
	if format := formatOf(data); isForeign(format) {
		*r, err = Record{Format: format, Unknown: UnknownFields(data)}, nil
	}
	return err
}

// MarshalJSON encodes the known and the unknown fields. A record of an unknown format is as it was decoded.
func (r Record) MarshalJSON() ([]byte, error) {
	if r.Foreign() {
		return []byte(r.Unknown), nil
	}
	type plain Record
	return r.Unknown.join(plain(r))
}

// UnmarshalJSON decodes a record as that of an application.
func (r *ScheduleRecord) UnmarshalJSON(data []byte) error {
	type plain ScheduleRecord
	err := split(data, (*plain)(r), &r.Unknown)
	if err == nil && !r.Foreign() {
		return nil
	}
	if format := formatOf(data); isForeign(format) {
		*r, err = ScheduleRecord{Format: format, Unknown: UnknownFields(data)}, nil
	}
	return err
}

// MarshalJSON encodes a record as that of an application.
func (r ScheduleRecord) MarshalJSON() ([]byte, error) {
	if r.Foreign() {
		return []byte(r.Unknown), nil
	}
	type plain ScheduleRecord
	return r.Unknown.join(plain(r))
}

// formatOf reads the format of a record, whatever else the record holds.
func formatOf(data []byte) int64 {
	var record struct {
		Format json.RawMessage `json:"format"`
	}
	if _, err := decoding.Split(data, &record); err != nil {
		return 0 // no object: there is no record to leave alone
	}
	if len(record.Format) == 0 || string(record.Format) == "null" {
		return 0
	}
	var format int64
	if err := json.Unmarshal(record.Format, &format); err != nil || format <= 0 {
		return FormatUnreadable
	}
	return format
}
