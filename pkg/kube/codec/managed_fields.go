package codec

import (
	"bytes"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// buffers are for objects without their managed fields, while they are decoded.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// withoutManagedFields decodes an object without its managed fields. They may be half of the JSON of an application, and no reader
// of these clients needs them.
func withoutManagedFields(object []byte, decode func([]byte) error) error {
	from, to := managedFields(object)
	if from == to {
		return decode(object)
	}
	buffer := buffers.Get().(*[]byte)
	defer buffers.Put(buffer)
	*buffer = append(append((*buffer)[:0], object[:from]...), object[to:]...)
	return decode(*buffer)
}

// managedFields returns where the managed fields are in the JSON of an object, with the comma before them. It returns the same place twice
// if there are none, or if no comma is before them: the API server writes other metadata first.
func managedFields(object []byte) (from, to int64) {
	values := jsontext.NewDecoder(bytes.NewBuffer(object), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if _, found := seek(values, `"metadata"`); !found {
		return 0, 0
	}
	from, found := seek(values, `"managedFields"`)
	if !found || object[from] != ',' || values.SkipValue() != nil {
		return 0, 0
	}
	return from, values.InputOffset()
}

// seek reads the next object up to the value of a field, and returns where the field before it ends.
func seek(values *jsontext.Decoder, field string) (from int64, found bool) {
	if begin, err := values.ReadToken(); err != nil || begin.Kind() != '{' {
		return 0, false
	}
	for {
		from = values.InputOffset()
		if values.PeekKind() != '"' {
			return 0, false
		}
		name, err := values.ReadValue()
		if err != nil {
			return 0, false
		}
		if string(name) == field {
			return from, true
		}
		if values.SkipValue() != nil {
			return 0, false
		}
	}
}
