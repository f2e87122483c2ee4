package v1beta2

import (
	stdjson "encoding/json"
	"fmt"

	"sigs.k8s.io/json"
)

// Properties are properties by their keys. A value that is a number, true or false may be written without quotes, as
// the operator's documents have it.
type Properties map[string]string

// UnmarshalJSON decodes properties.
func (p *Properties) UnmarshalJSON(data []byte) error {
	var values map[string]stdjson.RawMessage
	if err := json.UnmarshalCaseSensitivePreserveInts(data, &values); err != nil {
		return err
	}
	*p = make(Properties, len(values))
	for key, value := range values {
		text, err := textOf(value)
		if err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		(*p)[key] = text
	}
	return nil
}

// textOf is what Spark reads for a value.
func textOf(value stdjson.RawMessage) (text string, err error) {
	switch value[0] {
	case '"', 'n': // null is as good as nothing
		err = json.UnmarshalCaseSensitivePreserveInts(value, &text)
		return text, err
	case '{', '[':
		return "", fmt.Errorf("write a text in the place of %s", value)
	default:
		return string(value), nil
	}
}
