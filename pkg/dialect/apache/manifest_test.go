package apache_test

import (
	"testing"

	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
)

func TestTheDefaultImageIsJudgedWhereAnApplicationNamesNone(t *testing.T) {
	const image, driver, executor = "spark.kubernetes.container.image", "spark.kubernetes.driver.container.image", "spark.kubernetes.executor.container.image"
	for name, test := range map[string]struct {
		conf map[string]string
		want bool
	}{
		"none is named":         {nil, true},
		"one for both":          {map[string]string{image: "a"}, false},
		"one for each":          {map[string]string{driver: "a", executor: "b"}, false},
		"one for the driver":    {map[string]string{driver: "a"}, true},
		"one for the executors": {map[string]string{executor: "b"}, true},
	} {
		app := pi().Obj()
		app.Spec.SparkConf = test.conf
		judged := false
		for _, v := range apache.Manifest(app, apache.Defaults{Image: "default"}).Images {
			judged = judged || v.Text == "default"
		}
		if judged != test.want {
			t.Errorf("%s: the default image is judged: %t", name, judged)
		}
	}
}
