package apache_test

import (
	"errors"
	"testing"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
	"github.com/firesteel-dev/firesteel/pkg/finding"
)

func TestRefusalNamesTheFieldOfTheSpec(t *testing.T) {
	refused := func(field string) error {
		return &finding.Finding{Field: field, Value: "v", Message: "is wrong", Remedy: "correct it"}
	}
	defaults := apache.Defaults{Properties: map[string]string{
		"spark.both": "default", "spark.default": "v", "spark.jars": "default", "spark.archives": "v",
	}}
	jar := func() *application {
		return pi().Spec(func(s *sparkv1.ApplicationSpec) { s.Jars, s.Files = "local:///a.jar", "local:///f" })
	}
	python := pi().Spec(func(s *sparkv1.ApplicationSpec) { s.PyFiles = "local:///a.py" })
	r := pi().Spec(func(s *sparkv1.ApplicationSpec) { s.SparkRFiles = "local:///a.R" })
	for name, test := range map[string]struct {
		app  *application
		err  error
		want string
	}{
		"a default":                          {pi(), refused("spark.default"), `the operator's default spark.default "v" is wrong: correct it`},
		"a default, by its place":            {pi(), refused("spec.sparkConf[spark.default]"), `the operator's default spark.default "v" is wrong: correct it`},
		"a property over a default":          {pi().Conf("spark.both", "v"), refused("spark.both"), `spec.sparkConf[spark.both] "v" is wrong: correct it`},
		"a default where a field would do":   {pi(), refused("spark.jars"), `the operator's default spark.jars "v" is wrong: correct it`},
		"a property":                         {pi(), refused("spark.driver.memory"), `spec.sparkConf[spark.driver.memory] "v" is wrong: correct it`},
		"a field":                            {pi(), refused("mainClass"), `spec.mainClass "v" is wrong: correct it`},
		"a field of the API":                 {pi(), refused("spec.jars"), `spec.jars "v" is wrong: correct it`},
		"a field that stands for a property": {jar(), refused("spark.jars"), `spec.jars "v" is wrong: correct it`},
		"a property beside a field for it":   {jar().Conf("spark.files", "v"), refused("spark.files"), `spec.sparkConf[spark.files] "v" is wrong: correct it`},
		"a jar":                              {jar(), refused("resource"), `spec.jars "v" is wrong: correct it`},
		"a Python file":                      {python, refused("resource"), `spec.pyFiles "v" is wrong: correct it`},
		"an R file":                          {r, refused("resource"), `spec.sparkRFiles "v" is wrong: correct it`},
		"a name":                             {pi(), refused("names.appID"), `metadata.name "v" is wrong: correct it`},
		"a name that a property gives":       {pi().Conf("spark.app.id", "v"), refused("names.appID"), `spec.sparkConf[spark.app.id] "v" is wrong: correct it`},
		"a part of the driver's template":    {pi(), refused("driverTemplate.spec.volumes"), `spec.driverSpec.podTemplateSpec.spec.volumes "v" is wrong: correct it`},
		"the whole template of executors":    {pi(), refused("executorTemplate"), `spec.executorSpec.podTemplateSpec "v" is wrong: correct it`},
		"the version":                        {pi(), refused("sparkVersion"), `spec.runtimeVersions.sparkVersion "v" is wrong: correct it`},
		"all properties":                     {pi(), refused("properties"), `spec.sparkConf "v" is wrong: correct it`},
		"several": {
			pi(), errors.Join(refused("mainClass"), refused("spark.x")),
			`spec.mainClass "v" is wrong: correct it; spec.sparkConf[spark.x] "v" is wrong: correct it`,
		},
		"one mistake in two places of a plan": {
			jar(), errors.Join(refused("spark.jars"), refused("resource")), `spec.jars "v" is wrong: correct it`,
		},
		"no field": {pi(), errors.New("no luck"), "no luck"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := apache.Refusals(test.err, test.app.Obj(), defaults).String(); got != test.want {
				t.Errorf("it says %s, want %s", got, test.want)
			}
		})
	}
}
