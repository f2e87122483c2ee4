package submission

import "fmt"

// FieldError says what in a plan cannot be submitted and what to do about it. Build returns one, or several joined by
// errors.Join, always as pointers: errors.As with a *FieldError finds the first.
type FieldError struct {
	// Field is the Spark property, or the field of Plan in lower camel case ("mainClass", "resource").
	Field string
	// Value is what was given there; empty where nothing was, or where it is a secret.
	Value string
	// Problem completes "<field> <value> ...", and Remedy is an imperative.
	Problem, Remedy string
}

// Error reads like: spark.driver.memory "1.5g" is not a size: write ...
func (e *FieldError) Error() string {
	if e.Value == "" {
		return fmt.Sprintf("%s %s: %s", e.Field, e.Problem, e.Remedy)
	}
	return fmt.Sprintf("%s %q %s: %s", e.Field, e.Value, e.Problem, e.Remedy)
}
