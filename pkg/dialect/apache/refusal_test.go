package apache_test

import (
	"errors"
	"testing"

	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

func TestRefusalSpeaksOfTheSpec(t *testing.T) {
	refused := func(field string) error {
		return &submission.FieldError{Field: field, Value: "v", Problem: "is wrong", Remedy: "mend it"}
	}
	app := pi().Conf("spark.both", "v").Obj()
	defaults := apache.Defaults{Properties: map[string]string{"spark.both": "default", "spark.default": "v"}}
	for name, test := range map[string]struct {
		err  error
		want string
	}{
		"a default":                 {refused("spark.default"), `the operator's default spark.default "v" is wrong: mend it`},
		"a default, by its place":   {refused("spec.sparkConf.spark.default"), `the operator's default spark.default "v" is wrong: mend it`},
		"a property over a default": {refused("spark.both"), `spec.sparkConf.spark.both "v" is wrong: mend it`},
		"a property":                {refused("spark.driver.memory"), `spec.sparkConf.spark.driver.memory "v" is wrong: mend it`},
		"a field":                   {refused("mainClass"), `spec.mainClass "v" is wrong: mend it`},
		"a field of the API":        {refused("spec.jars"), `spec.jars "v" is wrong: mend it`},
		"the main resource":         {refused("resource"), `spec.jars, spec.pyFiles or spec.sparkRFiles "v" is wrong: mend it`},
		"a name":                    {refused("names.appID"), `metadata.name or spec.sparkConf.spark.app.id "v" is wrong: mend it`},
		"several": {
			errors.Join(refused("mainClass"), refused("spark.x")),
			`spec.mainClass "v" is wrong: mend it; spec.sparkConf.spark.x "v" is wrong: mend it`,
		},
		"no field": {errors.New("no luck"), "no luck"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := apache.Refusal(test.err, app, defaults); got != test.want {
				t.Errorf("it says %s, want %s", got, test.want)
			}
		})
	}
}
