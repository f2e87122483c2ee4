package codec

import (
	stdjson "encoding/json"
	"math"

	quickjson "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// split is a JSON object as the fields that a struct type has, and all others.
type split[Known any] struct {
	Known *Known         `json:",embed"`
	Rest  jsontext.Value `json:",embed"`
}

// Split decodes a JSON object into a struct that has no methods of its own. unknown becomes a JSON object of the fields that
// the struct does not have; it is empty if there are none.
func Split[Known any, Unknown ~string](data []byte, known *Known, unknown *Unknown) error {
	into := begin(known)
	err := quickjson.Unmarshal(data, &into, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	*unknown = Unknown(into.Rest)
	return err
}

// SplitFrom is Split for an object within another.
func SplitFrom[Known any, Unknown ~string](from *jsontext.Decoder, known *Known, unknown *Unknown) error {
	into := begin(known)
	err := quickjson.UnmarshalDecode(from, &into, quickjson.RejectUnknownMembers(false))
	*unknown = Unknown(into.Rest)
	return err
}

func begin[Known any](known *Known) split[Known] {
	var zero Known
	*known = zero
	return split[Known]{Known: known}
}

// Join encodes a struct as a JSON object, with the fields that Split returned.
func Join[Unknown ~string](known any, unknown Unknown) ([]byte, error) {
	encoded, err := stdjson.Marshal(known)
	if err != nil || unknown == "" {
		return encoded, err
	}
	encoded = encoded[:len(encoded)-1]
	if len(encoded) > 1 {
		encoded = append(encoded, ',')
	}
	return append(encoded, unknown[1:]...), nil
}

// FormatUnreadable stands for a format that is no positive integer.
const FormatUnreadable = math.MaxInt64

// SplitRecord is Split for a record that has a format, which is a field of known. If the format is above newest, it decodes
// only the format, and unknown is the whole record.
func SplitRecord[Known any, Unknown ~string](data []byte, newest int64, known *Known, format *int64, unknown *Unknown) error {
	err := Split(data, known, unknown)
	if err == nil && !IsNewerFormat(*format, newest) {
		return nil
	}
	if found := formatOf(data); IsNewerFormat(found, newest) {
		var zero Known
		*known = zero
		*format, *unknown = found, Unknown(data)
		return nil
	}
	return err
}

// JoinRecord is Join for a record. A record of a newer format is encoded as it was decoded.
func JoinRecord[Unknown ~string](newest int64, known any, format int64, unknown Unknown) ([]byte, error) {
	if IsNewerFormat(format, newest) {
		return []byte(unknown), nil
	}
	return Join(known, unknown)
}

// IsNewerFormat reports whether a record of this format was written by a newer version of Firesteel.
func IsNewerFormat(format, newest int64) bool { return format < 0 || format > newest }

// formatOf reads the format of a record, whatever else the record holds.
func formatOf(data []byte) int64 {
	var record struct {
		Format stdjson.RawMessage `json:"format"`
	}
	var rest string
	if err := Split(data, &record, &rest); err != nil {
		return 0 // it is no object, so there is no record to leave alone
	}
	if len(record.Format) == 0 || string(record.Format) == "null" {
		return 0
	}
	var format int64
	if err := stdjson.Unmarshal(record.Format, &format); err != nil || format <= 0 {
		return FormatUnreadable
	}
	return format
}
