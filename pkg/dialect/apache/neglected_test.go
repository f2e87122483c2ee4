package apache_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
)

func TestNeglected(t *testing.T) {
	instances := func(init int32) *application {
		return pi().Tolerating(sparkv1.ApplicationTolerations{
			InstanceConfig: &sparkv1.ExecutorInstanceConfig{InitExecutors: init, MinExecutors: 3, MaxExecutors: 3},
		})
	}
	unknown := func(version, rules string) []string {
		return []string{fmt.Sprintf(
			"spec.runtimeVersions.sparkVersion %q is no version that is known: the application is submitted as Spark %s submits.", version, rules)}
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
		"lists of ways to the driver": {
			pi().Spec(func(s *sparkv1.ApplicationSpec) {
				s.DriverServiceIngressList = []sparkv1.DriverServiceIngress{{}}
				s.DriverHTTPRouteList = []sparkv1.DriverHTTPRoute{{}}
				s.DriverGRPCRouteList = []sparkv1.DriverGRPCRoute{{}}
			}),
			[]string{
				"spec.driverServiceIngressList is not acted on yet: create the Service and the Ingress yourself.",
				"spec.driverHttpRouteList is not acted on yet: create the Service and the HTTPRoute yourself.",
				"spec.driverGrpcRouteList is not acted on yet: create the Service and the GRPCRoute yourself.",
			},
		},
		"numbers of executors to wait for": {
			instances(3),
			[]string{"spec.applicationTolerations.instanceConfig is not acted on yet: " +
				"the application counts as healthy once its driver is ready."},
		},
		"numbers of executors that mean nothing upstream either": {instances(0), nil},
		"a version newer than any that is known":                 {pi().Spark("7.0.0"), unknown("7.0.0", "4.3")},
		"a preview of one":                                       {pi().Spark("4.4.0-preview1"), unknown("4.4.0-preview1", "4.3")},
		"a version older than any that is known":                 {pi().Spark("3.4.1"), unknown("3.4.1", "3.5")},
		"a version that is no number":                            {pi().Spark("latest"), unknown("latest", "4.3")},
		"no version":                                             {pi().Spark(""), unknown("", "4.3")},
		"a preview of a known version":                           {pi().Spark("4.2.0-preview1"), nil},
		"a version in words that are understood":                 {pi().Spark("v4_1_0"), nil},
		"properties that Spark passes over, sorted": {
			pi().Conf("spark.ok", "1").Conf("hive.metastore.uris", "x").Conf("fs.s3a.endpoint", "y"),
			[]string{
				`spec.sparkConf "fs.s3a.endpoint" is dropped: Spark reads only keys that begin with spark.`,
				`spec.sparkConf "hive.metastore.uris" is dropped: Spark reads only keys that begin with spark.`,
			},
		},
		"properties that only the operator can set": {
			pi().Conf("spark.kubernetes.namespace", "elsewhere").Conf("spark.submit.deployMode", "client"),
			[]string{
				`spec.sparkConf spark.kubernetes.namespace "elsewhere" has no effect: it is always "team-a".`,
				`spec.sparkConf spark.submit.deployMode "client" has no effect: it is always "cluster".`,
			},
		},
		"a name for Spark that is not the application's": {
			pi().Conf("spark.app.name", "Daily Report"), []string{`spec.sparkConf spark.app.name "Daily Report" has no effect: it is always "pi".`},
		},
		"labels that tell the operator's objects": {
			pi().Conf("spark.kubernetes.executor.label.spark.operator/name", "mine"),
			[]string{`spec.sparkConf spark.kubernetes.executor.label.spark.operator/name "mine" has no effect: it is always "spark-kubernetes-operator".`},
		},
		"the same properties, set as the operator does": {
			pi().Conf("spark.app.name", "pi").Conf("spark.kubernetes.namespace", "team-a").Conf("spark.submit.deployMode", "cluster"), nil,
		},
		"fields that the type has not": {
			pi().With(func(app *sparkv1.SparkApplication) {
				app.UnknownFields = []string{`unknown field "spec.driverSpec.podTemplateSpec.spec.volume"`}
			}),
			[]string{`unknown field "spec.driverSpec.podTemplateSpec.spec.volume" is dropped: correct its spelling.`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, apache.Neglected(test.app.Obj())); diff != "" {
				t.Errorf("Neglected (-want +got):\n%s", diff)
			}
		})
	}
}
