package apache_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
)

const heldName = " has no effect, since what is made of it would keep its name after its end: leave it out."

func TestUnsupportedFields(t *testing.T) {
	unknown := func(version, rules string) []string {
		return []string{fmt.Sprintf(
			"spec.runtimeVersions.sparkVersion %q is not known, and submitted as Spark %s submits: write the image's, such as 4.1.0.", version, rules)}
	}
	for name, test := range map[string]struct {
		app  *application
		want []string
	}{
		"nothing is neglected of a plain application": {pi(), nil},
		"fields without effect upstream need no word": {
			pi().Spec(func(s *sparkv1.ApplicationSpec) {
				s.RuntimeVersions.ScalaVersion, s.RuntimeVersions.JDKVersion = "2.13", "21"
			}), nil,
		},
		"routes in another namespace": {
			pi().Spec(func(s *sparkv1.ApplicationSpec) {
				route := sparkv1.DriverHTTPRoute{}
				route.ServiceMetadata.Namespace, route.HTTPRouteMetadata.Namespace = "team-a", "elsewhere"
				s.DriverHTTPRouteList = []sparkv1.DriverHTTPRoute{route}
			}),
			[]string{`spec.driverHttpRouteList[0].httpRouteMetadata.namespace "elsewhere" has no effect: it is always "team-a".`},
		},
		"finalizers, which would hold names": {
			pi().Spec(func(s *sparkv1.ApplicationSpec) {
				s.DriverSpec = &sparkv1.PodSpecTemplate{PodTemplateSpec: &corev1.PodTemplateSpec{}}
				s.DriverSpec.PodTemplateSpec.Finalizers = []string{"example.org/a", "example.org/b"}
				s.ExecutorSpec = &sparkv1.PodSpecTemplate{PodTemplateSpec: s.DriverSpec.PodTemplateSpec}
				route := sparkv1.DriverHTTPRoute{}
				route.ServiceMetadata.Finalizers = []string{"example.org/c"}
				s.DriverHTTPRouteList = []sparkv1.DriverHTTPRoute{route}
			}),
			[]string{
				`spec.driverSpec.podTemplateSpec.metadata.finalizers "example.org/a, example.org/b"` + heldName,
				`spec.executorSpec.podTemplateSpec.metadata.finalizers "example.org/a, example.org/b"` + heldName,
				`spec.driverHttpRouteList[0].serviceMetadata.finalizers "example.org/c"` + heldName,
			},
		},
		"a version newer than any that is known": {pi().Spark("7.0.0"), unknown("7.0.0", "4.3")},
		"a preview of one":                       {pi().Spark("4.4.0-preview1"), unknown("4.4.0-preview1", "4.3")},
		"a version older than any that is known": {pi().Spark("3.4.1"), unknown("3.4.1", "3.5")},
		"a version that is no number":            {pi().Spark("latest"), unknown("latest", "4.3")},
		"no version":                             {pi().Spark(""), unknown("", "4.3")},
		"a preview of a known version":           {pi().Spark("4.2.0-preview1"), nil},
		"a version in words that are understood": {pi().Spark("v4_1_0"), nil},
		"properties that Spark passes over, sorted": {
			pi().Conf("spark.ok", "1").Conf("hive.metastore.uris", "x").Conf("fs.s3a.endpoint", "y"),
			[]string{
				`spec.sparkConf[fs.s3a.endpoint] is dropped, Spark reads only what begins with spark.: leave it out, or write spark.hadoop. before a property of Hadoop's.`,
				`spec.sparkConf[hive.metastore.uris] is dropped, Spark reads only what begins with spark.: leave it out, or write spark.hadoop. before a property of Hadoop's.`,
			},
		},
		"properties that only the operator can set": {
			pi().Conf("spark.kubernetes.namespace", "elsewhere").Conf("spark.submit.deployMode", "client").Conf("spark.app.name", "Pi").
				Conf("spark.kubernetes.executor.label.spark.operator/name", "mine"),
			[]string{
				`spec.sparkConf[spark.app.name] "Pi" has no effect, it is always "pi": leave it out.`,
				`spec.sparkConf[spark.kubernetes.executor.label.spark.operator/name] "mine" has no effect, it is always "spark-kubernetes-operator": leave it out.`,
				`spec.sparkConf[spark.kubernetes.namespace] "elsewhere" has no effect, it is always "team-a": leave it out.`,
				`spec.sparkConf[spark.submit.deployMode] "client" has no effect, it is always "cluster": leave it out.`,
			},
		},
		"the same properties, set as the operator does": {
			pi().Conf("spark.app.name", "pi").Conf("spark.kubernetes.namespace", "team-a").Conf("spark.submit.deployMode", "cluster"), nil,
		},
		"fields that the type has not": {
			pi().With(func(app *sparkv1.SparkApplication) {
				app.UnknownFields = []string{`unknown field "spec.driverSpec.podTemplateSpec.spec.volume"`}
			}),
			[]string{`unknown field "spec.driverSpec.podTemplateSpec.spec.volume" is dropped: correct its spelling to volumes.`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, apache.UnsupportedFields(test.app.Obj()).Sentences()); diff != "" {
				t.Errorf("UnsupportedFields (-want +got):\n%s", diff)
			}
		})
	}
}
