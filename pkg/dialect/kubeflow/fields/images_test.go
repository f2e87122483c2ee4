package fields_test

import (
	"testing"

	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/settings"
)

func TestAnApplicationWithoutAVersionHasThatOfTheDriversImage(t *testing.T) {
	for name, test := range map[string]struct {
		app  *application
		want string
	}{
		"its own":                       {pi().Spark("4.0.1").Spec("image: spark:3.5.7"), "4.0.1"},
		"the image's":                   {pi().Spark("").Spec("image: spark:3.5.7"), "3.5.7"},
		"the driver's image's":          {pi().Spark("").Spec("image: spark:3.5.7").Driver("image: spark:4.1.0"), "4.1.0"},
		"a property's":                  {pi().Spark("").Spec(`image: ""`).Conf("spark.kubernetes.driver.container.image", "spark:4.0.0"), "4.0.0"},
		"none, of an image without one": {pi().Spark("").Spec("image: spark:latest"), ""},
	} {
		if got := planned(t, test.app.Obj(), settings.NewDefaults()).SparkVersion; got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}
