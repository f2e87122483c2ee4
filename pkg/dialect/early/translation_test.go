package early_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/firesteel-dev/firesteel/pkg/apis/early/v1alpha1"
	firesteelv1alpha1 "github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect/early"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/fields"
	"github.com/firesteel-dev/firesteel/pkg/spec"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

func seed(t *testing.T) *v1alpha1.SparkApplication {
	t.Helper()
	text, err := os.ReadFile("testdata/seed.yaml")
	if err != nil {
		t.Fatal(err)
	}
	app := &v1alpha1.SparkApplication{}
	if err := yaml.Unmarshal(text, app); err != nil {
		t.Fatal(err)
	}
	if app.Undecodable != "" || len(app.UnknownFields) > 0 {
		t.Fatalf("it is decoded with %q and %q", app.Undecodable, app.UnknownFields)
	}
	app.UID, app.Generation = "c0ffee00-1111-4222-8333-444455556666", 1
	return app
}

func TestTheApplicationOfTheFirstDocumentationRunsWithAReplacementOfItsImages(t *testing.T) {
	app, s := seed(t), early.NewSettings()
	s.ImageReplacements = []early.ImageReplacement{{Pattern: "kubespark/spark-*", Image: "registry.example.com/spark:3.5.7"}}
	if refused := early.Policy(app, s).Refused; refused != nil {
		t.Fatalf("refused: %+v", refused)
	}
	objects := built(t, app, s)
	driver := objects.Driver.Spec.Containers[0]
	if objects.Driver.Name != "spark-app-example-driver" || driver.Image != "registry.example.com/spark:3.5.7" {
		t.Errorf("the driver is %s of %s", objects.Driver.Name, driver.Image)
	}
	if cpu := driver.Resources.Requests.Cpu().String(); cpu != "100m" {
		t.Errorf("the driver requests %s", cpu)
	}
	plan := planned(t, app, s)
	for key, want := range map[string]string{
		"spark.driver.cores": "1", "spark.executor.cores": "1", "spark.executor.memory": "512m", "spark.executor.instances": "1",
	} {
		if got := plan.Properties[key]; got != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
	if plan.SparkVersion != "3.5.7" {
		t.Errorf("it is submitted as Spark %q", plan.SparkVersion)
	}
	wantSentence(t, early.Warnings(app, s).Sentences(), "spec.driver.image", "kubespark/spark-driver:v2.2.0-kubernetes-0.5.0", "image-replacements")
	wantSentence(t, early.Warnings(app, s).Sentences(), "spec.mainApplicationFile", "Scala 2.11")
}

func TestImagesOfTheForkAreRefusedWithoutAReplacement(t *testing.T) {
	for field, app := range map[string]*v1alpha1.SparkApplication{
		"spec.driver.image": seed(t),
		"spec.sparkConf[spark.kubernetes.driver.docker.image]": application(t,
			`{driver: {image: ""}, sparkConf: {spark.kubernetes.driver.docker.image: "kubespark/spark-driver:v2.2.0-kubernetes-0.5.0"}}`),
	} {
		refused := early.Policy(app, early.NewSettings()).Refused
		if refused == nil || refused.Reason != "ImageTooOld" {
			t.Errorf("%s: refused by %+v", field, refused)
			continue
		}
		wantSentence(t, []string{refused.Message}, field, "kubespark/spark-driver:v2.2.0-kubernetes-0.5.0", "image-replacements of the ConfigMap config-early")
	}
}

func TestImageWithATagOfItsOwnRunsIfTheAnnotationSaysTheVersion(t *testing.T) {
	app := application(t, `{driver: {image: "team/spark-etl:1.12"}, executor: {image: "team/spark-etl:1.12"}}`)
	refused := early.Policy(app, early.NewSettings()).Refused
	if refused == nil || refused.Reason != "ImageTooOld" {
		t.Fatalf("refused: %+v", refused)
	}
	wantSentence(t, []string{refused.Message}, "metadata.annotations["+early.AnnotationSparkVersion+"]")
	app.Annotations = map[string]string{early.AnnotationSparkVersion: "3.5.7"}
	if refused := early.Policy(app, early.NewSettings()).Refused; refused != nil {
		t.Errorf("refused: %+v", refused)
	}
	if warnings := early.Warnings(app, early.NewSettings()).String(); strings.Contains(warnings, "Spark 2") {
		t.Errorf("the warnings are %s", warnings)
	}
}

func TestTheImageOfTheDefaultPropertiesNamesTheVersion(t *testing.T) {
	app, s := application(t, `{}`), early.NewSettings()
	app.Spec.Driver.Image, app.Spec.Executor.Image = "", ""
	s.Properties = map[string]string{"spark.kubernetes.container.image": "spark:4.1.1"}
	if got := planned(t, app, s).SparkVersion; got != "4.1.1" {
		t.Errorf("it is submitted as Spark %q", got)
	}
	s.Properties["spark.kubernetes.driver.container.image"] = "spark:4.2.1" // which Spark prefers to the application's own image of all roles
	app.Spec.SparkConf = map[string]string{"spark.kubernetes.container.image": "spark:3.5.7"}
	if got := planned(t, app, s).SparkVersion; got != "4.2.1" {
		t.Errorf("beside the default image of drivers it is submitted as Spark %q", got)
	}
}

func TestDynamicAllocationThatTheApplicationTurnsOffLeavesSparksNumberOfExecutors(t *testing.T) {
	app, s := application(t, `{sparkConf: {spark.dynamicAllocation.enabled: "false"}}`), early.NewSettings()
	app.Spec.Executor.Instances = nil
	s.Properties = map[string]string{"spark.dynamicAllocation.enabled": "true"}
	if got := planned(t, app, s).Properties["spark.executor.instances"]; got != "2" {
		t.Errorf("it has %q executors", got)
	}
}

// wantSentence requires that one sentence has all parts.
func wantSentence(t *testing.T, sentences []string, parts ...string) {
	t.Helper()
	for _, sentence := range sentences {
		missing := false
		for _, part := range parts {
			missing = missing || !strings.Contains(sentence, part)
		}
		if !missing {
			return
		}
	}
	t.Errorf("none of %q has all of %q", sentences, parts)
}

const (
	firstSpellings = `
type: Scala
mode: cluster
arguments: [--day, "2017-11-13"]
sparkConf: {spark.ui.port: "4045"}
sparkConigMap: log4j-files
hadoopConigMap: hdfs-site
deps: {jarFiles: ["local:///lib.jar"], files: ["https://example.com/d.csv"], pyFiles: ["local:///a.py"]}
driver:
  cores: "0.1"
  driverConigMaps: [{name: tuning, path: /etc/tuning}]
  driverSecrets: [{name: gcp-key, path: /mnt/secrets, secretType: GCPServiceAccount}]
  driverEnvVars: {STAGE: prod}
executor:
  instances: 2
  memory: 512m
  executorConigMaps: [{name: tuning, path: /etc/tuning}]
  executorSecrets: [{name: token, path: /mnt/token, secretType: HDFSDelegationToken}]
  executorEnvVars: {STAGE: prod}
`
	lastSpellings = `
type: Scala
mode: cluster
arguments: [--day, "2017-11-13"]
sparkConf: {spark.ui.port: "4045"}
sparkConfigMap: log4j-files
hadoopConfigMap: hdfs-site
deps: {jars: ["local:///lib.jar"], files: ["https://example.com/d.csv"], pyFiles: ["local:///a.py"]}
driver:
  cores: 0.1
  configMaps: [{name: tuning, path: /etc/tuning}]
  secrets: [{name: gcp-key, path: /mnt/secrets, secretType: GCPServiceAccount}]
  envVars: {STAGE: prod}
executor:
  instances: 2
  memory: 512m
  configMaps: [{name: tuning, path: /etc/tuning}]
  secrets: [{name: token, path: /mnt/token, secretType: HadoopDelegationToken}]
  envVars: {STAGE: prod}
`
)

func TestAllSpellingsOfAFieldMeanTheSame(t *testing.T) {
	s := early.NewSettings()
	first, last := application(t, firstSpellings), application(t, lastSpellings)
	if diff := cmp.Diff(planned(t, last, s), planned(t, first, s)); diff != "" {
		t.Errorf("plans (-last +first):\n%s", diff)
	}
	if diff := cmp.Diff(built(t, last, s), built(t, first, s)); diff != "" {
		t.Errorf("objects (-last +first):\n%s", diff)
	}
	older := application(t, strings.NewReplacer("driverConig", "driverConfig", "executorConig", "executorConfig").Replace(firstSpellings))
	if diff := cmp.Diff(planned(t, last, s), planned(t, older, s)); diff != "" {
		t.Errorf("plans (-last +older):\n%s", diff)
	}
}

func TestAnotherSpellingIsNoEdit(t *testing.T) {
	respelt, edited := application(t, lastSpellings), application(t, lastSpellings)
	for i := range respelt.Spec.Executor.Secrets { // this value has two spellings, too, and an edit of a value is an edit
		respelt.Spec.Executor.Secrets[i].Type = v1alpha1.HDFSDelegationTokenSecret
	}
	edited.Spec.Executor.EnvVars["STAGE"] = "test"
	first := early.SpecOf(application(t, strings.Replace(firstSpellings, `"0.1"`, "0.1", 1)))
	if got := early.SpecOf(respelt); got.Hash(spec.HashVersion) != first.Hash(spec.HashVersion) {
		t.Error("another spelling has another hash")
	}
	if got := early.SpecOf(edited); got.Hash(spec.HashVersion) == first.Hash(spec.HashVersion) {
		t.Error("an edit has the same hash")
	}
}

// Both APIs submit the same for the same meaning, but for labels and annotations of their own.
func TestPlansAreThoseOfTheKubeflowDialect(t *testing.T) {
	theirs := &v1beta2.SparkApplication{}
	if err := yaml.UnmarshalStrict([]byte(`
type: Scala
mode: cluster
sparkVersion: 4.1.1
mainClass: Main
mainApplicationFile: local:///main.jar
arguments: [--day, "2017-11-13"]
sparkConf: {spark.ui.port: "4045"}
sparkConfigMap: log4j-files
hadoopConfigMap: hdfs-site
deps: {jars: ["local:///lib.jar"], files: ["https://example.com/d.csv"], pyFiles: ["local:///a.py"]}
driver:
  image: spark:4.1.1
  cores: 1
  coreRequest: "0.1"
  configMaps: [{name: tuning, path: /etc/tuning}]
  secrets: [{name: gcp-key, path: /mnt/secrets, secretType: GCPServiceAccount}]
  envVars: {STAGE: prod}
executor:
  image: spark:4.1.1
  instances: 2
  memory: 512m
  configMaps: [{name: tuning, path: /etc/tuning}]
  secrets: [{name: token, path: /mnt/token, secretType: HadoopDelegationToken}]
  envVars: {STAGE: prod}
`), &theirs.Spec); err != nil {
		t.Fatal(err)
	}
	app, s := application(t, firstSpellings), early.NewSettings()
	theirs.ObjectMeta = app.ObjectMeta
	want, err := fields.Plan(theirs, firesteelv1alpha1.Attempt{Since: submitTime}, s.Defaults)
	if err != nil {
		t.Fatal(err)
	}
	own := cmpopts.IgnoreMapEntries(func(key, _ string) bool {
		return strings.Contains(key, ".label.spark") || strings.Contains(key, ".annotation.spark-operator.k8s.io/")
	})
	if diff := cmp.Diff(want, planned(t, app, s), own); diff != "" {
		t.Errorf("plan (-kubeflow +early):\n%s", diff)
	}
}

func TestPodsHaveTheLabelsOfThisAPIOnly(t *testing.T) {
	app, s := application(t, `{sparkConf: {spark.kubernetes.driver.label.sparkoperator.k8s.io/app-name: another}}`), early.NewSettings()
	app.Labels = map[string]string{"team": "a"}
	if warnings := early.Warnings(app, s).String(); !strings.Contains(warnings, "label.sparkoperator.k8s.io/app-name") || strings.Contains(warnings, "always") {
		t.Errorf("the warnings are %s", warnings)
	}
	objects := built(t, app, s)
	for _, labels := range []map[string]string{objects.Driver.Labels, executorLabels(planned(t, app, s))} {
		if labels[early.LabelAppID] != early.AppID(app) || labels[early.LabelApplication] != "pi" || labels["team"] != "" {
			t.Errorf("labels are %q", labels)
		}
		for key := range labels {
			if strings.HasPrefix(key, "sparkoperator.k8s.io/") {
				t.Errorf("the label %s selects the Kubeflow operator's Pods", key)
			}
		}
	}
}

func executorLabels(plan submission.Plan) map[string]string {
	labels := map[string]string{}
	for key, value := range plan.Properties {
		if name, ok := strings.CutPrefix(key, "spark.kubernetes.executor.label."); ok {
			labels[name] = value
		}
	}
	return labels
}

func TestFractionsOfCoresAreRequestedAndRoundedUpForSpark(t *testing.T) {
	for written, want := range map[string]struct{ request, cores string }{
		`0.1`: {"0.1", "1"}, `"0.1"`: {"0.1", "1"}, `"100m"`: {"100m", "1"}, `1`: {"", "1"}, `"1"`: {"", "1"}, `"1500m"`: {"1500m", "2"},
		`"2000m"`: {"", "2"}, `2.5`: {"2.5", "3"}, `null`: {"", ""},
	} {
		app := application(t, `{driver: {cores: `+written+`}, executor: {cores: `+written+`}}`)
		plan := planned(t, app, early.NewSettings())
		for _, role := range []string{"driver", "executor"} {
			request, cores := plan.Properties["spark.kubernetes."+role+".request.cores"], plan.Properties["spark."+role+".cores"]
			if request != want.request || cores != want.cores {
				t.Errorf("%s of the %s: requests %q for %q cores, want %q for %q", written, role, request, cores, want.request, want.cores)
			}
		}
	}
	for property, want := range map[string]struct{ request, cores string }{
		"0.1": {"0.1", "1"}, "1500m": {"1500m", "2"}, "2.5": {"2.5", "3"}, "2": {"", "2"}, "2000m": {"", "2"},
	} {
		app := application(t, `{sparkConf: {spark.driver.cores: "`+property+`", spark.executor.cores: "`+property+`"}}`)
		plan := planned(t, app, early.NewSettings())
		for _, role := range []string{"driver", "executor"} {
			request, cores := plan.Properties["spark.kubernetes."+role+".request.cores"], plan.Properties["spark."+role+".cores"]
			if request != want.request || cores != want.cores {
				t.Errorf("the property %q of the %s: requests %q for %q cores, want %q for %q", property, role, request, cores, want.request, want.cores)
			}
		}
	}
	chosen := planned(t, application(t, `{sparkConf: {spark.driver.cores: "0.5", spark.kubernetes.driver.request.cores: 200m}, executor: {cores: 2}}`), early.NewSettings())
	if request, cores := chosen.Properties["spark.kubernetes.driver.request.cores"], chosen.Properties["spark.driver.cores"]; request != "200m" || cores != "1" {
		t.Errorf("beside a request of its own: requests %q for %q cores", request, cores)
	}
	both := planned(t, application(t, `{sparkConf: {spark.executor.cores: "0.5"}, executor: {cores: 2}}`), early.NewSettings())
	if request, cores := both.Properties["spark.kubernetes.executor.request.cores"], both.Properties["spark.executor.cores"]; request != "" || cores != "2" {
		t.Errorf("beside the field: requests %q for %q cores", request, cores)
	}
	for _, written := range []string{`"1k"`, `"-1"`, `0`, `"1e3"`, `NaN`, `"0.0000000001"`, `"99999999999999999999"`, `"1 2"`} {
		app := application(t, `{executor: {cores: `+written+`}}`)
		found := early.Invalid(app, early.NewSettings())
		if len(found) != 1 || found[0].Field != "spec.executor.cores" || !strings.Contains(found.String(), "is no number of cores") {
			t.Errorf("%s: found %q", written, found)
		}
	}
}

func TestExecutorsAreTwoUnlessTheirNumberIsSet(t *testing.T) {
	byDefault := early.NewSettings()
	byDefault.Properties = map[string]string{"spark.executor.instances": "7"}
	for spec, test := range map[string]struct {
		s    early.Settings
		want string
	}{
		`{}`:                            {early.NewSettings(), "2"},
		`{executor: {instances: 0}}`:    {early.NewSettings(), "0"},
		`{executor: {instances: null}}`: {early.NewSettings(), "2"},
		`{sparkConf: {spark.executor.instances: "3"}}`:            {early.NewSettings(), "3"},
		`{sparkConf: {spark.dynamicAllocation.enabled: "true"}}`:  {early.NewSettings(), ""},
		`{sparkConf: {spark.dynamicAllocation.enabled: "false"}}`: {byDefault, "7"},
	} {
		if got := planned(t, application(t, spec), test.s).Properties["spark.executor.instances"]; got != test.want {
			t.Errorf("%s: %q, want %q", spec, got, test.want)
		}
	}
}

func TestSecretsAreMountedAndVariablesLeadToThem(t *testing.T) {
	app := application(t, `
driver: {driverSecrets: [{name: gcp, path: /mnt/secrets, secretType: GCPServiceAccount}]}
executor: {executorSecrets: [{name: token, path: /mnt/token, secretType: HDFSDelegationToken}, {name: plain, path: /p}]}`)
	plan := planned(t, app, early.NewSettings())
	for key, want := range map[string]string{
		"spark.kubernetes.driver.secrets.gcp":                       "/mnt/secrets",
		"spark.kubernetes.driverEnv.GOOGLE_APPLICATION_CREDENTIALS": "/mnt/secrets/key.json",
		"spark.kubernetes.executor.secrets.token":                   "/mnt/token",
		"spark.executorEnv.HADOOP_TOKEN_FILE_LOCATION":              "/mnt/token/hadoop.token",
		"spark.kubernetes.executor.secrets.plain":                   "/p",
		"spark.executorEnv.GOOGLE_APPLICATION_CREDENTIALS":          "",
	} {
		if got := plan.Properties[key]; got != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
}

func TestEachRoleMayHaveEachTypeOfSecret(t *testing.T) {
	for kind, want := range map[string]struct{ variable, file string }{
		"GCPServiceAccount":     {"GOOGLE_APPLICATION_CREDENTIALS", "/mnt/key.json"},
		"HDFSDelegationToken":   {"HADOOP_TOKEN_FILE_LOCATION", "/mnt/hadoop.token"},
		"HadoopDelegationToken": {"HADOOP_TOKEN_FILE_LOCATION", "/mnt/hadoop.token"},
	} {
		for role, environment := range map[string]string{"driver": "spark.kubernetes.driverEnv.", "executor": "spark.executorEnv."} {
			app := application(t, `{`+role+`: {`+role+`Secrets: [{name: mine, path: /mnt, secretType: `+kind+`}]}}`)
			properties := planned(t, app, early.NewSettings()).Properties
			mounted, file := properties["spark.kubernetes."+role+".secrets.mine"], properties[environment+want.variable]
			if mounted != "/mnt" || file != want.file {
				t.Errorf("%s of the %s: mounted at %q, and %s is %q", kind, role, mounted, want.variable, file)
			}
		}
	}
}

func TestTypeRRunsAScript(t *testing.T) {
	app := application(t, `{type: R, mainClass: "", mainApplicationFile: "local:///opt/app/main.R", arguments: ["7"]}`)
	if found := early.Invalid(app, early.NewSettings()); len(found) > 0 {
		t.Errorf("it is refused: %q", found)
	}
	args := strings.Join(built(t, app, early.NewSettings()).Driver.Spec.Containers[0].Args, " ")
	if !strings.HasSuffix(args, "--class org.apache.spark.deploy.RRunner local:///opt/app/main.R 7") {
		t.Errorf("the driver runs %s", args)
	}
}

func TestFilesNeedNoJars(t *testing.T) {
	app := application(t, `{deps: {files: ["https://example.com/d.csv"], pyFiles: ["local:///a.py"]}}`)
	plan := planned(t, app, early.NewSettings())
	if plan.Properties["spark.files"] != "https://example.com/d.csv" || plan.Properties["spark.submit.pyFiles"] != "local:///a.py" {
		t.Errorf("properties are %q", plan.Properties)
	}
}

func TestModesWithoutADriverPodAreRefused(t *testing.T) {
	for spec, want := range map[string]string{
		`{mode: client}`:                                     "spec.mode",
		`{mode: client, submissionByUser: true}`:             "spec.mode",
		`{mode: in-cluster-client}`:                          "spec.driver.podName",
		`{mode: in-cluster-client, submissionByUser: true}`:  "spec.driver.podName",
		`{mode: in-cluster-client, driver: {podName: "  "}}`: "spec.driver.podName",
	} {
		refused := early.Policy(application(t, spec), early.NewSettings()).Refused
		if refused == nil || refused.Reason != "ClientModeUnsupported" || !strings.HasPrefix(refused.Message, "spec.mode") ||
			!strings.Contains(refused.Message, want) || !strings.Contains(refused.Message, "leave") {
			t.Errorf("%s is refused by %+v", spec, refused)
		}
	}
}

func TestFieldsWithoutEffectAreNamed(t *testing.T) {
	app := application(t, `{logsLocation: /var/log/app, driver: {podName: mine}, deps: {jarFiles: ["local:///a_2.10-1.jar", "local:///b_2.12.jar"]}}`)
	app.UnknownFields = []string{`unknown field "spec.drivers"`}
	sentences := early.Warnings(app, early.NewSettings()).Sentences()
	wantSentence(t, sentences, "spec.logsLocation", "/var/log/app", "has no effect")
	wantSentence(t, sentences, "spec.driver.podName", "in-cluster-client")
	wantSentence(t, sentences, "spec.deps.jarFiles[0]", "a_2.10-1.jar", "Scala")
	wantSentence(t, sentences, `unknown field "spec.drivers"`)
	if len(sentences) != 4 {
		t.Errorf("warnings are %q", sentences)
	}
}

func TestTheVersionOfSparkIsTheAnnotationsOrTheImagesOrTheSettings(t *testing.T) {
	for name, test := range map[string]struct {
		annotation, image, setting, want string
		parts                            []string // of the warning; nil for none
	}{
		"the annotation's": {"4.0.1", "spark:3.5.7", "4.2.0", "4.0.1", nil},
		"the image's":      {"", "spark:3.5.7", "4.2.0", "3.5.7", nil},
		"the setting's": {"", "app:latest", "4.2.0", "4.2.0",
			[]string{"metadata.annotations[firesteel.dev/spark-version]", "app:latest", "spark-version 4.2.0", "config-early"}},
		"none": {"", "app:latest", "", "", []string{"metadata.annotations[firesteel.dev/spark-version]", "is not known"}},
	} {
		t.Run(name, func(t *testing.T) {
			app, s := application(t, `{driver: {image: "`+test.image+`"}}`), early.NewSettings()
			s.SparkVersion = test.setting
			if test.annotation != "" {
				app.Annotations = map[string]string{early.AnnotationSparkVersion: test.annotation}
			}
			if got := planned(t, app, s).SparkVersion; got != test.want {
				t.Errorf("it is %q, want %q", got, test.want)
			}
			sentences := early.Warnings(app, s).Sentences()
			if test.parts == nil && len(sentences) > 0 {
				t.Errorf("warnings are %q", sentences)
			} else if test.parts != nil {
				wantSentence(t, sentences, test.parts...)
			}
		})
	}
}

func TestMessagesHaveTheSpellingThatTheUserWrote(t *testing.T) {
	s := early.NewSettings()
	for spec, want := range map[string]string{
		`{driver: {driverEnvVars: {"": x}}}`:                                "spec.driver.driverEnvVars",
		`{driver: {envVars: {"": x}}}`:                                      "spec.driver.envVars",
		`{driver: {driverSecrets: [{name: a, path: /a, secretType: Gcp}]}}`: "spec.driver.driverSecrets[0].secretType",
		`{driver: {driverSecrets: [{name: a, path: /a, type: Gcp}]}}`:       "spec.driver.driverSecrets[0].type",
		`{executor: {secrets: [{name: a, path: /a, type: Gcp}]}}`:           "spec.executor.secrets[0].type",
		`{sparkConf: {spark.kubernetes.driver.memoryOverhead: x}}`:          "spec.sparkConf[spark.kubernetes.driver.memoryOverhead]",
	} {
		app := application(t, spec)
		texts := early.Warnings(app, s).Sentences()
		plan, err := early.Plan(app, firesteelv1alpha1.Attempt{Since: submitTime}, s)
		if err == nil {
			_, err = submission.Build(plan)
		}
		wantSentence(t, append(texts, early.Refusals(err, app, s).Sentences()...), want)
	}
}

func TestTheUIServiceIsTheEarlyOperators(t *testing.T) {
	for _, kind := range []corev1.ServiceType{corev1.ServiceTypeNodePort, corev1.ServiceTypeClusterIP} {
		app, s := application(t, `{sparkConf: {spark.ui.port: "4045"}}`), early.NewSettings()
		app.Name, app.Namespace, app.UID = "spark-app-example", "default", "c0ffee00-1111-4222-8333-444455556666"
		s.UIServiceType = kind
		objects := built(t, app, s)
		if len(objects.Optional) != 1 {
			t.Fatalf("optional are %v", objects.Optional)
		}
		service := objects.Optional[0].(*corev1.Service)
		if service.Name != "spark-app-example-ui-675546556" || service.Spec.Type != kind {
			t.Errorf("it is %s of the type %s", service.Name, service.Spec.Type)
		}
		if diff := cmp.Diff(map[string]string{early.LabelAppID: "spark-app-example-675546556"}, service.Labels); diff != "" {
			t.Errorf("labels (-want +got):\n%s", diff)
		}
		want := map[string]string{early.LabelAppID: "spark-app-example-675546556", "spark-role": "driver"}
		if diff := cmp.Diff(want, service.Spec.Selector); diff != "" {
			t.Errorf("selector (-want +got):\n%s", diff)
		}
		port := service.Spec.Ports[0]
		if port.Port != 4045 || port.TargetPort.IntValue() != 4045 || port.Name != "spark-driver-ui-port" {
			t.Errorf("the port is %+v", port)
		}
		obsolete := early.ObsoleteObjects(app, s)
		if len(obsolete) != 1 || obsolete[0].GetName() != service.Name {
			t.Errorf("the end of the run deletes %v", obsolete)
		}
		services := 0
		for _, object := range objects.Owned {
			if _, ok := object.(*corev1.Service); ok {
				services++
			}
		}
		if services != 2 {
			t.Errorf("there are %d Services, want the driver's and the UI's", services)
		}
	}
}

func TestTypeOfASecretInItsFirstSpelling(t *testing.T) {
	of := func(secret string) *v1alpha1.SparkApplication {
		return application(t, `{driver: {driverSecrets: [{name: key, path: /mnt, `+secret+`}]}}`)
	}
	first, newest := of("type: GCPServiceAccount"), of("secretType: GCPServiceAccount")
	if diff := cmp.Diff(planned(t, newest, early.NewSettings()), planned(t, first, early.NewSettings())); diff != "" {
		t.Errorf("plan (-newest +first):\n%s", diff)
	}
	if found := early.Invalid(of("type: Generic, secretType: Generic"), early.NewSettings()); len(found) > 0 {
		t.Errorf("two spellings with one value: found %q", found)
	}
	found := early.Invalid(of("type: Generic, secretType: GCPServiceAccount"), early.NewSettings())
	if len(found) != 1 || !strings.Contains(found.String(), "spec.driver.driverSecrets[0].type") {
		t.Errorf("two values: found %q", found)
	}
}

func TestImageForBothRolesIsAProperty(t *testing.T) {
	s := early.NewSettings()
	s.ImageReplacements = []early.ImageReplacement{{Pattern: "kubespark/*", Image: "spark:3.5.9"}}
	const none = `driver: {image: ""}, executor: {image: ""}`
	replaced := application(t, `{`+none+`, sparkConf: {spark.kubernetes.container.image: kubespark/spark}}`)
	if got := planned(t, replaced, s).Properties["spark.kubernetes.container.image"]; got != "spark:3.5.9" {
		t.Errorf("the image is %q", got)
	}
	if sentences := early.Warnings(replaced, s).Sentences(); len(sentences) != 1 || !strings.Contains(sentences[0], "spec.sparkConf[spark.kubernetes.container.image]") {
		t.Errorf("the warnings are %q", sentences)
	}
	missing := application(t, `{`+none+`}`)
	plan, err := early.Plan(missing, firesteelv1alpha1.Attempt{Since: submitTime}, s)
	if err == nil {
		_, err = submission.Build(plan)
	}
	if found := early.Refusals(err, missing, s).String(); !strings.Contains(found, "spec.driver.image is missing") {
		t.Errorf("without an image it is refused by %q", found)
	}
}
