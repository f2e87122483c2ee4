package apache

import (
	"errors"
	"strings"

	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// Refusal says why a plan cannot be submitted, in the terms of the spec that it came from.
func Refusal(err error) string {
	var joined interface{ Unwrap() []error }
	if !errors.As(err, &joined) {
		return inTermsOfSpec(err)
	}
	var sentences []string
	for _, part := range joined.Unwrap() {
		sentences = append(sentences, Refusal(part))
	}
	return strings.Join(sentences, "; ")
}

func inTermsOfSpec(err error) string {
	var field *submission.FieldError
	if !errors.As(err, &field) {
		return err.Error()
	}
	told := *field
	switch {
	case strings.HasPrefix(field.Field, "spark."):
		told.Field = "spec.sparkConf." + field.Field
	case field.Field == "resource":
		told.Field = "spec.jars, spec.pyFiles or spec.sparkRFiles"
	case strings.HasPrefix(field.Field, "names."):
		told.Field = "metadata.name or spec.sparkConf.spark.app.id"
	case !strings.HasPrefix(field.Field, "spec."):
		told.Field = "spec." + field.Field
	}
	return told.Error()
}
