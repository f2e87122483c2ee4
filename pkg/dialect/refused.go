package dialect

import (
	"errors"
	"fmt"
	"strings"
)

// maxRefused is how many problems a refusal names.
const maxRefused = 32

// Refused joins what say makes of each error that was joined. Two fields of a plan may be one of the spec, which is named once.
func Refused(err error, say func(error) string) string {
	var said []string
	known := map[string]bool{}
	parts := partsOf(err)
	for i, part := range parts {
		if len(said) == maxRefused {
			said = append(said, fmt.Sprintf("and there are up to %d more such problems", len(parts)-i))
			break
		}
		if sentence := say(part); !known[sentence] {
			known[sentence] = true
			said = append(said, sentence)
		}
	}
	return strings.Join(said, "; ")
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
