package dialect

import (
	"errors"
	"fmt"
	"strings"
)

// maxRefusals is how many problems a refusal names.
const maxRefusals = 32

// JoinRefusals joins what message makes of each error that was joined. Two fields of a plan may be one of the spec, which is named once.
func JoinRefusals(err error, message func(error) string) string {
	var messages []string
	known := map[string]bool{}
	parts := partsOf(err)
	for i, part := range parts {
		if len(messages) == maxRefusals {
			messages = append(messages, fmt.Sprintf("and there are up to %d more such problems", len(parts)-i))
			break
		}
		if sentence := message(part); !known[sentence] {
			known[sentence] = true
			messages = append(messages, sentence)
		}
	}
	return strings.Join(messages, "; ")
}

// partsOf are the errors that were joined.
func partsOf(err error) []error {
	var joined interface{ Unwrap() []error }
	if !errors.As(err, &joined) {
		return []error{err}
	}
	var parts []error
	for _, part := range joined.Unwrap() {
		parts = append(parts, partsOf(part)...)
	}
	return parts
}
