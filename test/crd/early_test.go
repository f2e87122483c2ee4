package crd

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	earlyv1alpha1 "github.com/firesteel-dev/firesteel/pkg/apis/early/v1alpha1"
)

func newEarly(t *testing.T) resource {
	t.Helper()
	return newResource(t, "early/300-early-sparkapplication.yaml", "v1alpha1")
}

func earlyApplication(t *testing.T, spec string) []byte {
	t.Helper()
	return manifest(t, "spark-operator.k8s.io/v1alpha1", "pi", decode(t, []byte(spec)))
}

// The object in the early operator's documentation is accepted unchanged, and so are all spellings of each field.
func TestEarlyManifestsAreTakenAsTheyAre(t *testing.T) {
	const lists = `
driver:
  cores: 0.1
  %[1]s: [{name: a, path: /a}]
  %[3]s: [{name: b, path: /b, type: HDFSDelegationToken}]
  %[4]s: {A: b}
executor:
  cores: 1
  memory: null
  instances: null
  %[2]s: [{name: a, path: /a}]
`
	all := map[string][]byte{
		"the documentation's":               read(t, "../../pkg/dialect/early/testdata/seed.yaml"),
		"the documentation's first example": read(t, "../../pkg/dialect/early/testdata/manifests/first-example.yaml"),
		"the documentation's secret":        read(t, "../../pkg/dialect/early/testdata/manifests/gcp-service-account.yaml"),
	}
	all["first spellings"] = earlyApplication(t, fmt.Sprintf(lists, "driverConigMaps", "executorConigMaps", "driverSecrets", "driverEnvVars")+
		"sparkConigMap: a\nhadoopConigMap: b\ndeps: {jarFiles: [a]}\nlogsLocation: /var\nmode: in-cluster-client\n")
	all["older spellings"] = earlyApplication(t, fmt.Sprintf(lists, "driverConfigMaps", "executorConfigMaps", "secrets", "envVars"))
	all["last spellings"] = earlyApplication(t, fmt.Sprintf(lists, "configMaps", "configMaps", "secrets", "envVars")+
		"sparkConfigMap: a\nhadoopConfigMap: b\ndeps: {jars: [a], pyFiles: [b], files: [c]}\nhadoopConf: {a: b}\n")
	all["two spellings with one value"] = earlyApplication(t, "sparkConigMap: a\nsparkConfigMap: a\ndriver: {driverSecrets: [{name: a, path: /a}], secrets: [{name: a, path: /a}]}\n"+
		"executor: {secrets: [{name: a, path: /a, type: Generic, secretType: Generic}]}\n")
	for name, text := range all {
		t.Run(name, func(t *testing.T) {
			resource := newEarly(t)
			if unknown := resource.unknown(t, text); len(unknown) > 0 {
				t.Errorf("it does not know %q", unknown)
			}
			admitted, refusal := resource.admit(t, text)
			if refusal != nil {
				t.Fatalf("refused: %v", refusal)
			}
			if diff := cmp.Diff(decode(t, text), admitted); diff != "" {
				t.Errorf("changed (-given +admitted):\n%s", diff)
			}
			encoded, err := json.Marshal(admitted)
			if err != nil {
				t.Fatal(err)
			}
			app := &earlyv1alpha1.SparkApplication{}
			if err := json.Unmarshal(encoded, app); err != nil || app.Undecodable != "" || len(app.UnknownFields) > 0 {
				t.Errorf("decoded with %v, %q, %q", err, app.Undecodable, app.UnknownFields)
			}
		})
	}
}

func TestTwoSpellingsOfAnEarlyFieldWithTwoValuesAreRefused(t *testing.T) {
	const twoTypes = `{name: a, path: /a, type: Generic, secretType: GCPServiceAccount}`
	for spec, names := range map[string][]string{
		`{sparkConigMap: a, sparkConfigMap: b}`:                                                                 {"sparkConigMap", "sparkConfigMap"},
		`{hadoopConigMap: a, hadoopConfigMap: b}`:                                                               {"hadoopConigMap", "hadoopConfigMap"},
		`{deps: {jarFiles: [a], jars: [a, b]}}`:                                                                 {"jarFiles", "jars"},
		`{driver: {driverConigMaps: [{name: a, path: /a}], driverConfigMaps: [{name: a, path: /b}]}}`:           {"driverConigMaps", "driverConfigMaps"},
		`{driver: {driverConigMaps: [{name: a, path: /a}], configMaps: []}}`:                                    {"driverConigMaps", "configMaps"},
		`{driver: {driverConfigMaps: [{name: a, path: /a}], configMaps: [{name: b, path: /a}]}}`:                {"driverConfigMaps", "configMaps"},
		`{driver: {driverSecrets: [{name: a, path: /a}], secrets: [{name: a, path: /a, secretType: Generic}]}}`: {"driverSecrets", "secrets"},
		`{driver: {driverEnvVars: {A: b}, envVars: {A: c}}}`:                                                    {"driverEnvVars", "envVars"},
		`{executor: {executorConigMaps: [{name: a, path: /a}], executorConfigMaps: [{name: a, path: /b}]}}`:     {"executorConigMaps", "executorConfigMaps"},
		`{executor: {executorConigMaps: [{name: a, path: /a}], configMaps: [{name: a, path: /b}]}}`:             {"executorConigMaps", "configMaps"},
		`{executor: {executorConfigMaps: [{name: a, path: /a}], configMaps: [{name: a, path: /b}]}}`:            {"executorConfigMaps", "configMaps"},
		`{executor: {executorSecrets: [{name: a, path: /a}], secrets: [{name: a, path: /b}]}}`:                  {"executorSecrets", "secrets"},
		`{executor: {executorEnvVars: {A: b}, envVars: {B: b}}}`:                                                {"executorEnvVars", "envVars"},
		`{driver: {driverSecrets: [` + twoTypes + `]}}`:                                                         {"type", "secretType"},
		`{driver: {secrets: [{name: b, path: /b}, ` + twoTypes + `]}}`:                                          {"type", "secretType"},
		`{executor: {executorSecrets: [` + twoTypes + `]}}`:                                                     {"type", "secretType"},
		`{executor: {secrets: [` + twoTypes + `]}}`:                                                             {"type", "secretType"},
	} {
		_, refusal := newEarly(t).admit(t, earlyApplication(t, spec))
		if refusal == nil || !strings.Contains(refusal.Error(), strings.Join(names, " and ")+" are two spellings of one field") {
			t.Errorf("%s is refused by %v", spec, refusal)
		}
	}
}

func TestEarlyValuesOfAnotherKindAreRefused(t *testing.T) {
	for spec, field := range map[string]string{
		`{mode: cloud}`:                           "spec.mode",
		`{type: Go}`:                              "spec.type",
		`{driver: {cores: [1]}}`:                  "spec.driver.cores",
		`{executor: {cores: {a: 1}}}`:             "spec.executor.cores",
		`{executor: {instances: -1}}`:             "spec.executor.instances",
		`{executor: {instances: "1"}}`:            "spec.executor.instances",
		`{driver: {memory: 512}}`:                 "spec.driver.memory",
		`{driver: {driverSecrets: [{path: /a}]}}`: "spec.driver.driverSecrets[0].name",
		`{submissionByUser: "no"}`:                "spec.submissionByUser",
	} {
		if _, refusal := newEarly(t).admit(t, earlyApplication(t, spec)); refusal == nil || !strings.Contains(refusal.Error(), field) {
			t.Errorf("%s is refused by %v", spec, refusal)
		}
	}
	if _, refusal := newEarly(t).admit(t, manifest(t, "spark-operator.k8s.io/v1alpha1", "1-pi", map[string]any{})); refusal == nil {
		t.Error("a name that no Service can have is accepted")
	}
}

// true is no number of cores, and the schema cannot say so: the object is blocked.
func TestEarlyCoresThatAreNeitherNumberNorTextAreReported(t *testing.T) {
	app := &earlyv1alpha1.SparkApplication{}
	text := `{"metadata":{"name":"pi"},"spec":{"mainClass":"Main","driver":{"cores":true}}}`
	if err := json.Unmarshal([]byte(text), app); err != nil || !strings.Contains(app.Undecodable, "cores true") || app.Name != "pi" {
		t.Errorf("decoded with %v and %q", err, app.Undecodable)
	}
}
