package dialect_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	earlyv1alpha1 "github.com/firesteel-dev/firesteel/pkg/apis/early/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
	"github.com/firesteel-dev/firesteel/pkg/dialect/early"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/settings"
	"github.com/firesteel-dev/firesteel/pkg/finding"
)

func apacheApplication(t *testing.T, spec string) dialect.Application {
	app := &sparkv1.SparkApplication{ObjectMeta: named()}
	if err := yaml.UnmarshalStrict([]byte(spec), &app.Spec); err != nil {
		t.Fatal(err)
	}
	return app
}

func kubeflowApplication(t *testing.T, spec string) dialect.Application {
	app := &v1beta2.SparkApplication{ObjectMeta: named()}
	if err := yaml.UnmarshalStrict([]byte(spec), &app.Spec); err != nil {
		t.Fatal(err)
	}
	return app
}

func configMapSpecs(count int) []string {
	var specs []string
	for i := range count {
		specs = append(specs, fmt.Sprintf("{name: c%d}", i))
	}
	return specs
}

func apiOf(app dialect.Application) *dialect.API {
	switch app.(type) {
	case *sparkv1.SparkApplication:
		return apache.API
	case *earlyv1alpha1.SparkApplication:
		return early.API
	default:
		return kubeflow.API
	}
}

func fieldsOf(found finding.List, severity finding.Severity) []string {
	var fields []string
	for _, f := range found {
		if f.Severity == severity {
			fields = append(fields, f.Field)
		}
	}
	slices.Sort(fields)
	return fields
}

func TestCheckFindsAllFaultsOfAManifest(t *testing.T) {
	common := dialect.Settings{DriverServiceAccount: "spark"}
	kubeflowDefaults := settings.NewDefaults()
	kubeflowDefaults.Settings = common
	forApache, forKubeflow := apache.New(apache.Defaults{Settings: common}), kubeflow.New(kubeflowDefaults)
	for name, test := range map[string]struct {
		d                 dialect.Dialect
		app               dialect.Application
		refused, warnings []string
	}{
		"none": {
			d: forApache, app: apacheApplication(t, `{mainClass: Pi, jars: "local:///pi.jar", runtimeVersions: {sparkVersion: 4.0.1}}`),
		},
		"three steps of the Apache dialect": {
			d: forApache,
			app: apacheApplication(t, `
mainClass: Pi
jars: local:///pi.jar
runtimeVersions: {sparkVersion: 4.0.1}
deploymentMode: ClientMode
sparkConf:
  spark.driver.memory: 1.5g
  spark.app.name: other
  spark.kubernetes.driver.podTemplateFile: t.yaml
`),
			refused: []string{
				"spec.deploymentMode", "spec.sparkConf[spark.driver.memory]", "spec.sparkConf[spark.kubernetes.driver.podTemplateFile]",
			},
			warnings: []string{"spec.sparkConf[spark.app.name]"},
		},
		"routes and config maps": {
			d: forApache,
			app: apacheApplication(t, `
mainClass: Pi
jars: local:///pi.jar
runtimeVersions: {sparkVersion: 4.0.1}
configMapSpecs: [{name: "A_"}]
driverServiceIngressList: [{serviceMetadata: {name: s}}]
`),
			refused: []string{"spec.configMapSpecs[0].name", "spec.driverServiceIngressList[0].ingressMetadata.name"},
		},
		"a template at a URL that is not allowed": {
			d: forApache,
			app: apacheApplication(t, `{mainClass: Pi, jars: "local:///pi.jar", runtimeVersions: {sparkVersion: 4.0.1},
				sparkConf: {spark.kubernetes.driver.podTemplateFile: "https://example.com/t.yaml"}}`),
			refused: []string{"spec.sparkConf[spark.kubernetes.driver.podTemplateFile]"},
		},
		"no service account": {
			d:        apache.New(apache.Defaults{}),
			app:      apacheApplication(t, `{mainClass: Pi, jars: "local:///pi.jar", runtimeVersions: {sparkVersion: 4.0.1}}`),
			warnings: []string{"spec.sparkConf[spark.kubernetes.authenticate.driver.serviceAccountName]"},
		},
		"more objects than can be made": {
			d: forApache,
			app: apacheApplication(t, `{mainClass: Pi, jars: "local:///pi.jar", runtimeVersions: {sparkVersion: 4.0.1},
				configMapSpecs: [`+strings.Join(configMapSpecs(257), ", ")+`]}`),
			refused: []string{"spec"},
		},
		"a driver that the user starts": {
			d: early.New(early.Settings{}), app: &earlyv1alpha1.SparkApplication{
				ObjectMeta: named(), Spec: earlyv1alpha1.SparkApplicationSpec{SubmissionByUser: true},
			},
		},
		"one fault of a field is not reported twice": {
			d:       forApache,
			app:     apacheApplication(t, `{mainClass: Pi, jars: "local:///pi.jar", runtimeVersions: {sparkVersion: 4.0.1}, sparkConf: {spark.app.id: "a b"}}`),
			refused: []string{"spec.sparkConf[spark.app.id]"},
		},
		"three steps of the Kubeflow dialect": {
			d: forKubeflow,
			app: kubeflowApplication(t, `
mainApplicationFile: local:///pi.jar
mainClass: Pi
image: i
sparkVersion: 4.0.1
mode: client
driver: {memory: 1.5g, cores: -1}
sparkConf: {spark.app.name: other}
`),
			refused:  []string{"spec.driver.cores", "spec.driver.memory", "spec.mode"},
			warnings: []string{"spec.sparkConf[spark.app.name]"},
		},
		"all of one step": {
			d: forKubeflow,
			app: kubeflowApplication(t, `
mainApplicationFile: local:///pi.jar
mainClass: Pi
image: i
sparkVersion: 4.0.1
driverIngressOptions: [{servicePort: 0, ingressURLFormat: a}, {servicePort: 1}]
sparkConf: {spark.master: a, spark.kubernetes.namespace: b}
`),
			refused: []string{
				"spec.driverIngressOptions[0].servicePort", "spec.driverIngressOptions[1].ingressURLFormat",
				"spec.sparkConf[spark.kubernetes.namespace]", "spec.sparkConf[spark.master]",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			found := dialect.Check(test.d, apiOf(test.app), test.app).Found
			if diff := cmp.Diff(test.refused, fieldsOf(found, finding.Error)); diff != "" {
				t.Errorf("refused for (-want +got):\n%s\n%s", diff, found)
			}
			if diff := cmp.Diff(test.warnings, fieldsOf(found, finding.Warning)); diff != "" {
				t.Errorf("warnings (-want +got):\n%s\n%s", diff, found)
			}
		})
	}
}

func TestAPolicyNamesEverythingThatIsInvalid(t *testing.T) {
	app := kubeflowApplication(t, `{mode: client, sparkConf: {spark.master: a}}`)
	refused := kubeflow.New(settings.NewDefaults()).Policy(app).Refused
	if refused == nil || refused.Reason != "ClientModeUnsupported" || !strings.Contains(refused.Message, "spec.mode") ||
		!strings.Contains(refused.Message, "spark.master") {
		t.Errorf("it is refused for %+v", refused)
	}
}

func TestWhatAPlanIsRefusedForIncludesWhatBuildWouldRefuse(t *testing.T) {
	d := apache.New(apache.Defaults{})
	app := apacheApplication(t, `
mainClass: Pi
jars: local:///pi.jar
runtimeVersions: {sparkVersion: 4.0.1}
sparkConf: {spark.driver.memory: 1.5g, spark.driver.cores: none, spark.kubernetes.driver.podTemplateFile: t.yaml}
`)
	plan, err := d.Plan(app, v1alpha1.Attempt{})
	text := dialect.AllRefusals(d, app, plan, err).String()
	for _, part := range []string{"[spark.driver.memory]", "[spark.driver.cores]", "podTemplateFile]"} {
		if strings.Count(text, part) != 1 {
			t.Errorf("it does not say %s once: %s", part, text)
		}
	}
}
