package codec

import (
	"bytes"
	stdjson "encoding/json"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// DecodeProperties decodes properties by their keys. A value that is a number, true or false may be written without quotes. Each
// value is decoded in its place, since there may be many.
func DecodeProperties(data []byte, into *map[string]string) error {
	values := jsontext.NewDecoder(bytes.NewBuffer(data), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if values.PeekKind() != '{' {
		return stdjson.Unmarshal(data, into) // null, or what this refuses
	}
	if _, err := values.ReadToken(); err != nil {
		return err
	}
	*into = map[string]string{}
	for values.PeekKind() == '"' {
		name, err := values.ReadToken()
		if err != nil {
			return err
		}
		key := name.String()
		text, err := propertyValue(values)
		if err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		(*into)[key] = text
	}
	_, err := values.ReadToken()
	return err
}

// propertyValue returns what Spark reads for the next value.
func propertyValue(values *jsontext.Decoder) (string, error) {
	switch kind := values.PeekKind(); kind {
	case '"':
		token, err := values.ReadToken()
		return token.String(), err
	case 'n': // null is the same as an empty text
		return "", values.SkipValue()
	default:
		value, err := values.ReadValue()
		if err == nil && (kind == '{' || kind == '[') {
			err = fmt.Errorf("write a text in the place of %s", value)
		}
		return string(value), err
	}
}
