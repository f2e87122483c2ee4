package apache

import (
	"errors"
	"strings"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// Refusal says why a plan cannot be submitted, in the terms of the spec, or of the operator's defaults, that it came from.
func Refusal(err error, app *sparkv1.SparkApplication, defaults Defaults) string {
	var joined interface{ Unwrap() []error }
	if !errors.As(err, &joined) {
		return inTermsOfSource(err, app, defaults)
	}
	var sentences []string
	for _, part := range joined.Unwrap() {
		sentences = append(sentences, Refusal(part, app, defaults))
	}
	return strings.Join(sentences, "; ")
}

func inTermsOfSource(err error, app *sparkv1.SparkApplication, defaults Defaults) string {
	var field *submission.FieldError
	if !errors.As(err, &field) {
		return err.Error()
	}
	told := *field
	key := strings.TrimPrefix(field.Field, "spec.sparkConf.")
	_, given := app.Spec.SparkConf[key]
	_, defaulted := defaults.Properties[key]
	switch {
	case defaulted && !given:
		told.Field = "the operator's default " + key
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
