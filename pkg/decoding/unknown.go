package decoding

import (
	stdjson "encoding/json"

	quickjson "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// split is a JSON object as the fields that a struct type has, and all others.
type split[Known any] struct {
	Known *Known         `json:",embed"`
	Rest  jsontext.Value `json:",embed"`
}

// Split decodes a JSON object into a struct that has no methods of its own. It returns the fields that the struct does not
// have as a JSON object, which is empty if there are none.
func Split[Known any](data []byte, known *Known) (unknown string, err error) {
	into := begin(known)
	err = quickjson.Unmarshal(data, &into, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	return string(into.Rest), err
}

// SplitFrom is Split for an object within another.
func SplitFrom[Known any](from *jsontext.Decoder, known *Known) (unknown string, err error) {
	into := begin(known)
	err = quickjson.UnmarshalDecode(from, &into, quickjson.RejectUnknownMembers(false))
	return string(into.Rest), err
}

func begin[Known any](known *Known) split[Known] {
	var zero Known
	*known = zero
	return split[Known]{Known: known}
}

// Join encodes a struct as a JSON object, with the fields that Split returned.
func Join(known any, unknown string) ([]byte, error) {
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
