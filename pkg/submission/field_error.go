package submission

import (
	"fmt"

	"github.com/firesteel-dev/firesteel/internal/text"
	"github.com/firesteel-dev/firesteel/pkg/redact"
)

// FieldError says what in a plan cannot be submitted and what to do about it. Build returns one, or several joined by
// errors.Join, always as pointers: errors.As with a *FieldError finds the first.
type FieldError struct {
	// Field is the Spark property, or the field of Plan in lower camel case ("mainClass", "resource").
	Field string
	// Value is what was given there; empty where nothing was.
	Value string
	// Problem completes "<field> <value> ...", and Remedy is an imperative.
	Problem, Remedy string
}

// maxPart is how many bytes of each part are told: users write fields, values and what problems speak of, of any length.
const maxPart = 512

// Error reads like: spark.driver.memory "1.5g" is not a size: write ...
func (e *FieldError) Error() string {
	field, problem, remedy := text.Clip(e.Field, maxPart), text.Clip(redact.Text(e.Problem), maxPart), text.Clip(e.Remedy, maxPart)
	if e.Value == "" {
		return fmt.Sprintf("%s %s: %s", field, problem, remedy)
	}
	return fmt.Sprintf("%s %q %s: %s", field, text.Clip(redact.Value(e.Field, e.Value), maxPart), problem, remedy)
}
