package parity

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/firesteel-dev/firesteel/pkg/finding"
)

// Difference is one field in which objects differ.
type Difference struct{ Field, Spark, Firesteel string }

func (d Difference) String() string {
	return fmt.Sprintf("%s\n\tspark-submit: %s\n\tFiresteel:    %s", d.Field, d.Spark, d.Firesteel)
}

// Fields are the leaves of objects by their paths: Pod/spec/containers/0/name.
type Fields map[string]any

// Differences compares objects field by field.
func Differences(spark, firesteel Fields) []Difference {
	var result []Difference
	for field, value := range spark {
		if other, given := firesteel[field]; !given || other != value {
			result = append(result, Difference{field, shown(value), shown(other)})
		}
	}
	for field, value := range firesteel {
		if _, given := spark[field]; !given {
			result = append(result, Difference{field, shown(nil), shown(value)})
		}
	}
	slices.SortFunc(result, func(a, b Difference) int { return strings.Compare(a.Field, b.Field) })
	return result
}

func shown(value any) string {
	if value == nil {
		return "(none)"
	}
	return fmt.Sprintf("%#v", value)
}

// Flatten returns the fields of objects in their normal form.
func Flatten(objects map[string]Object) Fields {
	fields := Fields{}
	for name, object := range objects {
		flatten(name, object, fields)
	}
	return fields
}

func flatten(path string, value any, fields Fields) {
	switch value := value.(type) {
	case Object:
		for key, entry := range value {
			flatten(path+"/"+key, entry, fields)
		}
		if len(value) == 0 {
			fields[path] = "{}"
		}
	case []any:
		for i, entry := range value {
			flatten(path+"/"+strconv.Itoa(i), entry, fields)
		}
	default:
		fields[path] = value
	}
}

// Comparison compares the objects that Firesteel makes from a case with those of spark-submit.
type Comparison struct {
	Case
	Version string
	// API is the one that the case was given in; empty for the submission itself.
	API      string
	Recorded *Recording
	// Built or Refusal is what Firesteel made of it.
	Built   Fields
	Refusal error
	// Message is what the condition of an application says of the refusal.
	Message string
}

// Wrong returns the differences that are no intended deviations.
func (c Comparison) Wrong(meant Deviations) []error {
	switch recorded := c.Recorded; {
	case c.Refusal != nil && recorded.RefusedBy == "":
		return c.unmeant(meant)
	case c.Refusal != nil:
		return c.checkRefusal()
	case recorded.RefusedBy != "" && meant.allow(c, func(entry *Deviation) bool { return entry.Accepted }):
		return nil
	case recorded.RefusedBy == BySpark:
		return []error{fmt.Errorf("spark-submit refuses it (%s), Firesteel does not", recorded.Message)}
	case recorded.RefusedBy == ByServer && c.Refused == "":
		return nil // it refuses Firesteel's, too, which the recorder checks
	case recorded.RefusedBy == ByServer:
		return []error{fmt.Errorf("the API server refuses it (%s), Firesteel does not", recorded.Message)}
	}
	var wrong []error
	for _, difference := range Differences(c.Recorded.Fields, c.Built) {
		if !meant.allow(c, func(entry *Deviation) bool { return matches(entry.Field, difference.Field) }) {
			wrong = append(wrong, errors.New(difference.String()))
		}
	}
	return wrong
}

func (c Comparison) unmeant(meant Deviations) []error {
	var wrong []error
	for _, problem := range Problems(c.Refusal) {
		if !meant.allow(c, func(entry *Deviation) bool { return matches(entry.Refused, problem.Field) }) {
			wrong = append(wrong, fmt.Errorf("spark-submit accepts it, Firesteel does not: %w", &problem))
		}
	}
	return wrong
}

// checkRefusal checks that a refusal says what is wrong, and what to do.
func (c Comparison) checkRefusal() []error {
	problems := Problems(c.Refusal)
	var wrong []error
	for _, problem := range problems {
		given, set := c.Conf[problem.Field]
		// A value may be part of what is given, an item of a list for instance; and a secret is never repeated.
		if problem.Remedy == "" || problem.Message == "" || set && given != "" && problem.Value == nil && !secret(problem.Field) {
			wrong = append(wrong, fmt.Errorf("refusal without value, problem or remedy: %w", &problem))
		}
	}
	names := func(problem finding.Finding) bool {
		return problem.Field == c.Refused || problem.Field == finding.Entry("spec.sparkConf", c.Refused) ||
			c.ofValue && strings.Contains(problem.Error(), c.Refused) // it may be about what the value needs
	}
	if len(problems) == 0 || c.Refused != "" && !slices.ContainsFunc(problems, names) {
		wrong = append(wrong, fmt.Errorf("the refusal does not name %q: %w", c.Refused, c.Refusal))
	}
	if c.API != "" {
		wrong = append(wrong, c.checkMessage(problems)...)
	}
	return wrong
}

func secret(field string) bool {
	return field == "spark.kubernetes.authenticate.driver.oauthToken"
}

// Problems returns the fields or values that a refusal names.
func Problems(refusal error) finding.List {
	return slices.DeleteFunc(finding.Of(refusal), func(f finding.Finding) bool { return f.Field == "" })
}
