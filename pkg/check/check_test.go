package check_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/check"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/policy"
)

var now = time.Date(2026, 11, 26, 0, 0, 0, 0, time.UTC)

// settings are the defaults, with a service account for drivers.
func settings() *config.Config {
	settings := config.Default()
	settings.Defaults.DriverServiceAccount, settings.Kubeflow.DriverServiceAccount = "spark", "spark"
	return settings
}

// manifest is an object in YAML as JSON.
func manifest(t *testing.T, apiVersion, kind, spec string) []byte {
	t.Helper()
	text := fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata: {name: pi, namespace: team-a}\nspec:\n%s", apiVersion, kind, spec)
	encoded, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return encoded
}

// findings are what is found about a manifest in JSON.
func findings(manifest []byte, settings *config.Config, now time.Time) finding.List {
	object, err := check.Decode(manifest)
	if err != nil {
		return finding.Of(err)
	}
	found, _ := check.Examine(object, settings, now, check.AsBuilt)
	return found
}

// printed are findings with their severity and field.
func printed(found finding.List) []string {
	var lines []string
	for _, f := range found {
		severity := "error"
		if f.Severity == finding.Warning {
			severity = "warning"
		}
		lines = append(lines, severity+" "+f.Field)
	}
	slices.Sort(lines)
	return lines
}

const (
	apache = `  mainClass: Pi
  jars: local:///pi.jar
  runtimeVersions: {sparkVersion: 4.0.1}
`
	kubeflow = `  type: Scala
  mainClass: Pi
  mainApplicationFile: local:///pi.jar
  image: spark
  sparkVersion: 4.0.1
`
	early = `  type: Java
  mainClass: Pi
  mainApplicationFile: local:///pi.jar
  driver: {image: spark:4.0.1}
  executor: {image: spark:4.0.1}
`
	cluster = `  runtimeVersions: {sparkVersion: 4.0.1}
  clusterTolerations: {instanceConfig: {initWorkers: 1, minWorkers: 1, maxWorkers: 1}}
`
)

// indented is a spec within a template.
func indented(by int, spec string) string {
	indent := strings.Repeat(" ", by)
	return indent + strings.ReplaceAll(strings.TrimSuffix(spec, "\n"), "\n", "\n"+indent) + "\n"
}

func TestEachKindIsChecked(t *testing.T) {
	for name, test := range map[string]struct {
		kind, spec string
		versions   []string
		want       []string
	}{
		"an application of the Apache API": {
			kind: "SparkApplication", versions: []string{"spark.apache.org/v1", "spark.apache.org/v1beta1", "spark.apache.org/v1alpha1"}, spec: apache,
		},
		"one with errors and warnings": {
			kind: "SparkApplication", versions: []string{"spark.apache.org/v1"},
			spec: apache + "  deploymentMode: ClientMode\n  sparkConf: {spark.driver.memory: 1.5g, spark.app.name: x}\n",
			want: []string{"error spec.deploymentMode", "error spec.sparkConf[spark.driver.memory]", "warning spec.sparkConf[spark.app.name]"},
		},
		"an application of the Kubeflow API": {
			kind: "SparkApplication", spec: kubeflow,
			versions: []string{"sparkoperator.k8s.io/v1beta2", "sparkoperator.k8s.io/v1beta1", "sparkoperator.k8s.io/v1alpha1"},
		},
		"one with denied properties": {
			kind: "SparkApplication", versions: []string{"sparkoperator.k8s.io/v1beta2"}, spec: kubeflow + "  sparkConf: {spark.master: local}\n",
			want: []string{"error spec.sparkConf[spark.master]"},
		},
		"one whose image has another version": {
			kind: "SparkApplication", versions: []string{"sparkoperator.k8s.io/v1beta2"},
			spec: strings.Replace(kubeflow, "image: spark", "image: example.com/spark:4.1.0-java17", 1), want: []string{"warning spec.sparkVersion"},
		},
		"one whose image has a version of its own": {
			kind: "SparkApplication", versions: []string{"sparkoperator.k8s.io/v1beta2"},
			spec: strings.Replace(kubeflow, "image: spark", "image: example.com/etl:4.1.0", 1),
		},
		"one with executors that contradict each other": {
			kind: "SparkApplication", versions: []string{"sparkoperator.k8s.io/v1beta2"},
			spec: kubeflow + "  dynamicAllocation: {enabled: true, minExecutors: 5, maxExecutors: 2}\n",
			want: []string{"warning spec.dynamicAllocation.minExecutors"},
		},
		"one whose containers mount what nothing defines": {
			kind: "SparkApplication", versions: []string{"sparkoperator.k8s.io/v1beta2"},
			spec: kubeflow + `  volumes: [{name: v, emptyDir: {}}, {name: v, emptyDir: {}}, {name: w, emptyDir: {}, hostPath: {path: /w}}, {name: unused, emptyDir: {}, hostPath: {path: /w}}]
  driver:
    volumeMounts: [{name: w, mountPath: /w}]
    sidecars: [{name: a, image: a, volumeMounts: [{name: v, mountPath: /v}, {name: nope, mountPath: /n}]}]
    secrets: [{name: s, path: /s}, {name: 'A B', path: /t}, {name: t, path: ''}]
    configMaps: [{name: c, path: /c}, {name: a.b, path: ''}]
    template: {metadata: {labels: {sparkoperator.k8s.io/submission-id: 'is overwritten'}}, spec: {containers: [{name: spark-kubernetes-driver, volumeMounts: [{name: s-volume, mountPath: /u}, {name: c-vol, mountPath: /x}]}]}}
  executor: {configMaps: [{name: C, path: /c}]}
`,
			want: []string{
				"error spec.driver.configMaps[1].path", "error spec.driver.secrets[1].name", "error spec.driver.sidecars[0].volumeMounts[1].name",
				"error spec.volumes[2]", "warning spec.driver.secrets[2].path", "warning spec.executor.configMaps[0].name", "warning spec.volumes[1].name",
				"warning spec.volumes[3]",
			},
		},
		"a template with parts that no Pod can have": {
			kind: "SparkApplication", versions: []string{"spark.apache.org/v1"},
			spec: apache + `  sparkConf: {spark.kubernetes.driver.volumes.emptyDir.of-spark.mount.path: /x, spark.kubernetes.driver.label.c: d}
  driverSpec:
    podTemplateSpec:
      metadata: {labels: {'a b': c, b: 'c d', c: 'is overwritten'}}
      spec:
        volumes: [{name: v, emptyDir: {}, configMap: {name: c}}, {name: v, emptyDir: {}}, {emptyDir: {}}]
        initContainers: [{name: i, image: i, volumeMounts: [{name: of-spark, mountPath: /y}, {name: nope, mountPath: /n}]}]
        containers:
        - {name: spark, resources: {limits: {memory: 1Mi}, requests: {memory: 2Mi}}}
        - {name: a, image: x}
        - {name: a, resources: {requests: {memory: -1Gi}}}
`,
			want: []string{
				"error spec.driverSpec.podTemplateSpec.metadata.labels[a b]", "error spec.driverSpec.podTemplateSpec.metadata.labels[b]",
				"error spec.driverSpec.podTemplateSpec.spec.containers[2].name",
				"error spec.driverSpec.podTemplateSpec.spec.containers[2].resources.requests[memory]",
				"error spec.driverSpec.podTemplateSpec.spec.initContainers[0].volumeMounts[1].name",
				"error spec.driverSpec.podTemplateSpec.spec.volumes[0]", "error spec.driverSpec.podTemplateSpec.spec.volumes[1].name",
				"error spec.driverSpec.podTemplateSpec.spec.volumes[2].name",
			},
		},
		"an application of the early API": {
			kind: "SparkApplication", versions: []string{"spark-operator.k8s.io/v1alpha1"}, spec: early,
		},
		"one in a mode that is refused": {
			kind: "SparkApplication", versions: []string{"spark-operator.k8s.io/v1alpha1"}, spec: early + "  mode: client\n", want: []string{"error spec.mode"},
		},
		"a cluster": {
			kind: "SparkCluster", versions: []string{"spark.apache.org/v1", "spark.apache.org/v1beta1", "spark.apache.org/v1alpha1"}, spec: cluster,
		},
		"a cluster with numbers that contradict": {
			kind: "SparkCluster", versions: []string{"spark.apache.org/v1"},
			spec: strings.Replace(cluster, "minWorkers: 1", "minWorkers: 2", 1),
			want: []string{"warning spec.clusterTolerations.instanceConfig.minWorkers"},
		},
		"a schedule of Firesteel": {
			kind: "ScheduledSparkApplication", versions: []string{"firesteel.dev/v1alpha1"},
			spec: "  schedule: '@daily'\n  template:\n    spec:\n" + indented(4, apache),
		},
		"one with errors of its own and of its template": {
			kind: "ScheduledSparkApplication", versions: []string{"firesteel.dev/v1alpha1"},
			spec: "  schedule: '61 * * * *'\n  concurrencyPolicy: Never\n  template:\n    metadata: {annotations: {firesteel.dev/active-deadline: soon}}\n    spec:\n" +
				indented(4, apache+"  deploymentMode: ClientMode\n  sparkConf: {spark.app.name: x}\n"),
			want: []string{
				"error spec.concurrencyPolicy", "error spec.schedule", "error spec.template.spec.deploymentMode",
				"warning spec.template.metadata.annotations[firesteel.dev/active-deadline]", "warning spec.template.spec.sparkConf[spark.app.name]",
			},
		},
		"a schedule of the Kubeflow operator": {
			kind: "ScheduledSparkApplication", spec: "  schedule: '@daily'\n  template:\n" + indented(2, kubeflow),
			versions: []string{"sparkoperator.k8s.io/v1beta2", "sparkoperator.k8s.io/v1beta1", "sparkoperator.k8s.io/v1alpha1"},
		},
		"one in an unknown zone, whose template is refused": {
			kind: "ScheduledSparkApplication", versions: []string{"sparkoperator.k8s.io/v1beta2"},
			spec: "  schedule: '@daily'\n  timeZone: Europe/Atlantis\n  template:\n" + indented(2, kubeflow+"  mode: client\n"),
			want: []string{"error spec.template.mode", "error spec.timeZone"},
		},
		"one without a template": {
			kind: "ScheduledSparkApplication", versions: []string{"sparkoperator.k8s.io/v1beta2"}, spec: "  schedule: '@daily'\n",
			want: []string{"error spec.template"},
		},
	} {
		for _, version := range test.versions {
			t.Run(name+" in "+version, func(t *testing.T) {
				found := findings(manifest(t, version, test.kind, test.spec), settings(), now)
				if diff := cmp.Diff(test.want, printed(found)); diff != "" {
					t.Errorf("findings (-want +got):\n%s\n%s", diff, found)
				}
			})
		}
	}
}

func TestAClusterIsWarnedOfWhatBreaksTheProfileOfItsPods(t *testing.T) {
	restricted := settings()
	defaults := *restricted.Defaults
	defaults.PodSecurity.Restricted = true
	restricted.Defaults = &defaults
	asking := manifest(t, "spark.apache.org/v1", "SparkCluster", cluster+"  masterSpec: {statefulSetSpec: {template: {spec: {hostNetwork: true}}}}\n")
	if got, want := printed(findings(asking, restricted, now)), []string{"warning spec.masterSpec.statefulSetSpec.template"}; !slices.Equal(got, want) {
		t.Errorf("it is %q, want %q", got, want)
	}
	if found := findings(asking, settings(), now); len(found) > 0 {
		t.Errorf("without the profile it is %s", found)
	}
}

func TestTextsAboutATemplateNameTheFieldsOfTheSchedule(t *testing.T) {
	template := indented(4, apache+"  driverSpec: {podTemplateSpec: {spec: {volume: []}}}\n")
	found := findings(manifest(t, "firesteel.dev/v1alpha1", "ScheduledSparkApplication",
		"  schedule: '@daily'\n  template:\n    spec:\n"+template), settings(), now)
	if want := `unknown field "spec.template.spec.driverSpec.podTemplateSpec.spec.volume" is dropped: correct its spelling to volumes`; found.String() != want {
		t.Errorf("it is %q, want %q", found, want)
	}
}

func TestEachFindingAboutAFieldOfATemplateIsShown(t *testing.T) {
	ruled := settings()
	ruled.Admission = &config.Admission{Rules: policy.Rules{"denied-spark-properties": "spark.executor.instances", "max-executors": "3"}}
	spec := apache + "  sparkConf: {spark.executor.instances: '5'}\n"
	alone := findings(manifest(t, "spark.apache.org/v1", "SparkApplication", spec), ruled, now)
	if len(alone) != 2 || alone[0].Field != alone[1].Field {
		t.Fatalf("an application with that spec has %q, want two findings about one field", printed(alone))
	}
	const schedule = "  schedule: '@daily'\n  template:\n    spec:\n"
	field := "error spec.template.spec.sparkConf[spark.executor.instances]"
	found := findings(manifest(t, "firesteel.dev/v1alpha1", "ScheduledSparkApplication", schedule+indented(4, spec)), ruled, now)
	if got, want := printed(found), []string{field, field}; !slices.Equal(got, want) {
		t.Errorf("a schedule has %q, want %q", got, want)
	}
}

func TestAnObjectThatCannotBeDecodedIsRefusedWithItsField(t *testing.T) {
	pod := "{spec: {activeDeadlineSeconds: '60'}}"
	for _, test := range []struct{ version, kind, spec, field string }{
		{"spark.apache.org/v1", "SparkApplication", "  driverSpec: {podTemplateSpec: " + pod + "}\n", "spec.driverSpec.podTemplateSpec.spec.activeDeadlineSeconds"},
		{"sparkoperator.k8s.io/v1beta2", "SparkApplication", "  driver: {template: " + pod + "}\n", "spec.driver.template.spec.activeDeadlineSeconds"},
		{"spark-operator.k8s.io/v1alpha1", "SparkApplication", "  sparkConf: []\n", "spec.sparkConf"},
		{"spark.apache.org/v1", "SparkCluster", "  sparkConf: []\n", "spec.sparkConf"},
		{"firesteel.dev/v1alpha1", "ScheduledSparkApplication", "  schedule: 1\n", "spec.schedule"},
		{"sparkoperator.k8s.io/v1beta2", "ScheduledSparkApplication", "  schedule: 1\n", "spec.schedule"},
		{
			"sparkoperator.k8s.io/v1beta2", "ScheduledSparkApplication", "  schedule: '@daily'\n  template: {driver: {template: " + pod + "}}\n",
			"spec.template.driver.template.spec.activeDeadlineSeconds",
		},
	} {
		found := findings(manifest(t, test.version, test.kind, test.spec), settings(), now)
		if len(found) == 0 || found[0].Severity != finding.Error || !strings.Contains(found.String(), test.field) {
			t.Errorf("%s %s: it is %q, want %s", test.version, test.kind, found, test.field)
		}
	}
}

func TestUnknownKindsAndVersionsAreRefusedWithThoseThatAreServed(t *testing.T) {
	for text, want := range map[string]string{
		`{"apiVersion":"spark.apache.org/v9","kind":"SparkApplication"}`: `apiVersion "spark.apache.org/v9" is no version in which Firesteel serves the kind ` +
			`SparkApplication: write one of spark.apache.org/v1, spark.apache.org/v1beta1, spark.apache.org/v1alpha1`,
		`{"apiVersion":"v1","kind":"Pod"}`: `kind "Pod" is no kind of v1 that Firesteel serves: write one of `,
		`{}`:                               `kind is missing: write one of SparkApplication of spark.apache.org/v1, SparkCluster of spark.apache.org/v1, `,
		`{"kind":"SparkApplication"}`:      `apiVersion is missing: write one of spark.apache.org/v1, sparkoperator.k8s.io/v1beta2, spark-operator.k8s.io/v1alpha1`,
		`{"apiVersion":"sparkoperator.k8s.io/v1beta2"}`: `kind is missing: write one of SparkApplication, ScheduledSparkApplication`,
		`{"apiVersion":"sparkoperator.k8s.io/v1beta2","kind":"SparkAplication"}`: `kind "SparkAplication" is no kind of sparkoperator.k8s.io/v1beta2 that Firesteel ` +
			`serves: write one of SparkApplication, ScheduledSparkApplication`,
		`{"apiVersion":"apache.spark.org/v1","kind":"SparkCluster"}`: `apiVersion "apache.spark.org/v1" has no kind SparkCluster that Firesteel serves: write spark.apache.org/v1`,
		`[]`: `the manifest is no object with apiVersion and kind: begin it with apiVersion: and kind:`,
		`{"apiVersion":"spark.apache.org/v1","kind":"SparkApplication","metadata":7}`: `metadata is a number and not an object: write its fields below it`,
	} {
		found := findings([]byte(text), settings(), now)
		if len(found) != 1 || found[0].Severity != finding.Error || !strings.HasPrefix(found.String(), want) {
			t.Errorf("%s: it is %q, want %q", text, found, want)
		}
	}
}

func TestAnObjectWhoseNameIsGeneratedLaterIsChecked(t *testing.T) {
	text := strings.Replace(string(manifest(t, "sparkoperator.k8s.io/v1beta2", "SparkApplication", kubeflow)), `"name":"pi"`,
		`"generateName":"`+strings.Repeat("a", 250)+`-"`, 1)
	if found := findings([]byte(text), settings(), now); len(found) > 0 {
		t.Errorf("it is refused: %s", found)
	}
}

func TestAnObjectOfATypedClientIsChecked(t *testing.T) {
	app := &sparkv1.SparkApplication{}
	if err := json.Unmarshal(manifest(t, "spark.apache.org/v1", "SparkApplication", apache+"  deploymentMode: ClientMode\n"), app); err != nil {
		t.Fatal(err)
	}
	app.APIVersion, app.Kind = "", ""
	if found, _ := check.Examine(app, settings(), now, check.AsBuilt); !slices.Equal(printed(found), []string{"error spec.deploymentMode"}) {
		t.Errorf("it is %s", found)
	}
}

func TestServedVersionsAreThoseOfTheCustomResourceDefinitions(t *testing.T) {
	var want, got []string
	for _, pattern := range []string{"../../config/300-*.yaml", "../../config/early/300-*.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var definition apiextensionsv1.CustomResourceDefinition
			if err := yaml.Unmarshal(text, &definition); err != nil {
				t.Fatal(err)
			}
			for _, version := range definition.Spec.Versions {
				if version.Served {
					want = append(want, definition.Spec.Group+"/"+version.Name+" "+definition.Spec.Names.Kind)
				}
			}
		}
	}
	for _, kind := range check.Served() {
		got = append(got, kind.GroupVersion().String()+" "+kind.Kind)
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("kinds (-want +got):\n%s", diff)
	}
}
