package v1beta2

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// Properties are properties by their keys. A value that is a number, true or false may be written without quotes, as
// the operator's documents have it.
type Properties map[string]string

// UnmarshalJSON decodes properties, each in its place: there may be many.
func (p *Properties) UnmarshalJSON(data []byte) error {
	values := jsontext.NewDecoder(bytes.NewBuffer(data), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if values.PeekKind() != '{' {
		return json.Unmarshal(data, (*map[string]string)(p)) // null, or what this refuses
	}
	if _, err := values.ReadToken(); err != nil {
		return err
	}
	*p = Properties{}
	for values.PeekKind() == '"' {
		name, err := values.ReadToken()
		if err != nil {
			return err
		}
		key := name.String()
		text, err := textOf(values)
		if err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		(*p)[key] = text
	}
	_, err := values.ReadToken()
	return err
}

// textOf is what Spark reads for the next value.
func textOf(values *jsontext.Decoder) (string, error) {
	switch kind := values.PeekKind(); kind {
	case '"':
		token, err := values.ReadToken()
		return token.String(), err
	case 'n': // null is as good as nothing
		return "", values.SkipValue()
	default:
		value, err := values.ReadValue()
		if err == nil && (kind == '{' || kind == '[') {
			err = fmt.Errorf("write a text in the place of %s", value)
		}
		return string(value), err
	}
}
