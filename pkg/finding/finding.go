package finding

import (
	"cmp"
	"fmt"
	"reflect"
	"strings"

	"github.com/firesteel-dev/firesteel/internal/text"
	"github.com/firesteel-dev/firesteel/pkg/redact"
)

// Severity is what follows from a finding.
type Severity int

const (
	// Error means that the object is refused: nothing runs.
	Error Severity = iota
	// Warning means that the object runs, but not all that it asks for is done.
	Warning
)

// Finding is one thing that is found about a manifest. As an error it is always a pointer: errors.As with a *Finding finds the first.
type Finding struct {
	Severity Severity
	// Reason is the reason of a condition, in CamelCase, if the finding has one of its own.
	Reason string
	// Field is the path of the field, in the form that Kubernetes prints: spec.driver.memory, spec.volumes[0].name,
	// spec.sparkConf[spark.driver.memory]. It is empty if the finding is not about a field of the manifest. Of a plan, which
	// Refusals of a dialect translate, it is a Spark property or a field of the plan.
	Field string
	// Property is the Spark property that Field stands for. It is empty if Field names it, or stands for none.
	Property string
	// Source names what sets the value, if no field of the manifest does: a setting of the operator. Field is empty then.
	Source string
	// Meant is the path of the field that is probably meant, if Field is one that the kind does not have.
	Meant string
	// Value is what the field holds; nil if it holds nothing, or if the value does not help.
	Value any
	// Message completes "<field> <value> ...". It is empty if the remedy says what is wrong.
	Message string
	// Remedy is an imperative.
	Remedy string
	// Text is printed in the place of Field, Value and Message, if people search for its words. It is one sentence, or ends
	// with a period. The user's values in it are redacted already.
	Text string
}

// ReasonType is the reason for values of a wrong type.
const ReasonType = "WrongType"

// maxPart is how many bytes of each part are printed: users write fields, values and what messages repeat of them, of any length.
const maxPart = 512

// Error prints the finding like: spec.driver.memory "1.5g" is not a size: write one such as 1536m
func (f *Finding) Error() string { return f.print(cmp.Or(f.Field, f.Source)) }

// WithoutField prints the finding for a reader who knows the field: "1.5g" is not a size: write one such as 1536m
func (f *Finding) WithoutField() string { return f.print(f.Source) }

func (f *Finding) print(field string) string {
	problem := f.problem(field)
	switch {
	case f.Remedy == "":
		return problem
	case strings.HasSuffix(f.Text, "."):
		return problem + " " + text.Clip(f.Remedy, maxPart)
	case problem == "":
		return text.Clip(f.Remedy, maxPart)
	default:
		return problem + ": " + text.Clip(f.Remedy, maxPart)
	}
}

// Sentence prints the finding as a sentence.
func (f *Finding) Sentence() string { return sentence(f.Error()) }

func sentence(text string) string {
	if text == "" || strings.HasSuffix(text, ".") {
		return text
	}
	return text + "."
}

// problem prints all but the remedy.
func (f *Finding) problem(field string) string {
	if f.Text != "" {
		return text.Clip(redact.Text(f.Text), 2*maxPart)
	}
	var parts []string
	for _, part := range []string{text.Clip(field, maxPart), f.property(), f.value(), text.Clip(redact.Text(f.Message), maxPart)} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, " ")
}

// property prints the property in parentheses, since it is no part of the path.
func (f *Finding) property() string {
	if f.Property == "" {
		return ""
	}
	return "(" + text.Clip(f.Property, maxPart) + ")"
}

// value prints the value: a text in quotes and redacted, anything else as it is.
func (f *Finding) value() string {
	if f.Value == nil {
		return ""
	}
	if given := reflect.ValueOf(f.Value); given.Kind() == reflect.String {
		return fmt.Sprintf("%q", text.Clip(redact.Value(f.key(), given.String()), maxPart))
	}
	return fmt.Sprint(f.Value)
}

// key decides whether the value is secret.
func (f *Finding) key() string { return cmp.Or(f.Property, f.Field, f.Source) }

// Entry returns the path of an entry of a map, such as spec.sparkConf[spark.driver.memory].
func Entry(field, key string) string { return field + "[" + key + "]" }
