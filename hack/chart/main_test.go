package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	"sigs.k8s.io/yaml"

	"github.com/firesteel-dev/firesteel/hack/chart/move"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/config/knative"
	"github.com/firesteel-dev/firesteel/test/harness/othercharts"
)

const root = "../.."

func TestGeneratedFilesOfTheChartAreCurrent(t *testing.T) {
	files, err := generate(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		if current, err := os.ReadFile(filepath.Join(root, path)); err != nil || !bytes.Equal(current, files[path]) {
			t.Errorf("%s is out of date: run make generate (%v)", path, err)
		}
	}
}

// compiled is the schema of the chart's values.
func compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	file, err := os.Open(filepath.Join(root, folder, "values.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	document, err := jsonschema.UnmarshalJSON(file)
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("values.schema.json", document); err != nil {
		t.Fatal(err)
	}
	return compiler.MustCompile("values.schema.json")
}

// decoded are values as JSON decodes them.
func decoded(t *testing.T, values []byte) any {
	t.Helper()
	text, err := yaml.YAMLToJSON(values)
	if err != nil {
		t.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return value
}

func TestSchemaTakesTheDefaults(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, folder, "values.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := compiled(t).Validate(decoded(t, text)); err != nil {
		t.Error(err)
	}
}

func TestSchemaRefusesUnknownKeysAndBadValues(t *testing.T) {
	all := compiled(t)
	for values, want := range map[string]string{
		"replicas: 2":                                              "replicas",
		"controller: {replica: 2}":                                 "/controller",
		"controller: {replicas: two}":                              "/controller/replicas",
		"controller: {rbac: {scope: Namespace}}":                   "'Cluster', 'Namespaces'",
		"apis: [spark]":                                            "'spark.apache.org', 'sparkoperator.k8s.io'",
		"apis: []":                                                 "/apis",
		"spark: {jobNamespaces: [Team]}":                           "/spark/jobNamespaces/0",
		"settings: {config-defaults: {imag: a}}":                   "'image'",
		"settings: {config-default: {}}":                           "'config-defaults'",
		"settings: {config-handlers: {ttl: off}}":                  "'in-process', 'external'",
		"settings: {config-leader-election: {buckets: 11}}":        "/settings/config-leader-election/buckets",
		"settings: {config-leader-election: {lease: 11s}}":         "'lease-duration'",
		"settings: {config-events: {deletion-grace: 5}}":           "/settings/config-events/deletion-grace",
		"settings: {config-admission: {max-driver-memory: 0g}}":    "/settings/config-admission/max-driver-memory",
		"settings: {config-admission: {max-executor-memory: '0'}}": "/settings/config-admission/max-executor-memory",
		"settings: {config-kubeflow: {max-tracked-executors: -1}}": "/settings/config-kubeflow/max-tracked-executors",
	} {
		if err := all.Validate(decoded(t, []byte(values))); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error is %v, want %s in it", values, err, want)
		}
	}
}

// checkOf reads a ConfigMap as the controller does.
func checkOf(t *testing.T, name string, data map[string]string) error {
	t.Helper()
	object := func(data map[string]string) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "firesteel-system", Name: name}, Data: data}
	}
	if !slices.Contains(config.Names(), name) {
		return knative.Check(t.Context(), fake.NewClientset(object(data)).CoreV1().ConfigMaps("firesteel-system"))
	}
	var refusal error
	store := config.NewStore(zap.NewNop().Sugar(), func(_, _ *config.Config) {}, func(_ *corev1.ConfigMap, err error) { refusal = err })
	store.OnConfigChanged(object(nil))
	store.OnConfigChanged(object(data))
	return refusal
}

func TestSchemaHasTheKeysOfEveryConfigMap(t *testing.T) {
	manifests, err := filepath.Glob(filepath.Join(root, "config/400-config-*.yaml"))
	if err != nil || len(manifests) != len(settings) {
		t.Errorf("the schema has the settings of %d ConfigMaps, and config %d: %v", len(settings), len(manifests), err)
	}
	for name, keys := range settings {
		err := checkOf(t, name, map[string]string{"no-key": ""})
		if err == nil {
			t.Fatalf("%s takes any key", name)
		}
		_, known, _ := strings.Cut(err.Error(), "write one of ")
		want := slices.DeleteFunc(strings.Split(known, ", "), func(key string) bool { return strings.HasSuffix(key, "*") })
		if got := slices.Sorted(maps.Keys(keys)); !slices.Equal(got, want) {
			t.Errorf("the schema has the keys %v of %s, want %v", got, name, want)
		}
	}
}

// samples are values of settings. Each is tried with each key.
var samples = []string{
	"", " ", "0", "0s", "5", "10m", " 10m", "1.5h", "1h30m", "-5s", "-1", "+5s", ".5s", "10 m", "11", "100", "101", "5001", "0.5", "1.5", "1e-3",
	"true", "On", "enabled", "disabled", "Enabled", "yes", "in-process", "external", "off", "*", "a", "team-a, team-b", "Team", "team-a,", "team_a",
	"a.b", "spark=enabled,stage!=test", "spark==", "spark.master, spark.a.*", "spark.*.a", "master", "volcano yunikorn", "{{$appName}}.example.com",
	"example.com:80/a", "nginx", "none", "prometheus", "grpc", "debug", "INFO", "verbose", ":9090", "http://a:4318", "0.5,1,2", "2,1", "a,b",
	"10.5s", "87601h", "100000h", "0099", "99", "110", "4999", "5000", "6000", "10000", "2.2", "3.5.7", "v4_2_0-preview1", "spark-03.5", "4.30", "3.5.", "*=a:1", "a=b c=*",
	strings.Repeat("a=b,", 64), strings.Repeat("a=b ", 65), strings.Repeat("spark ", 32), strings.Repeat("spark,", 33), strings.Repeat("a", 63), strings.Repeat("a", 64),
	"https://{{ $appName }}.example.com/{{$appId}}?a#b", "a.{{$name}}", "Example.com", "user@example.com/%zz", "spark.", "spark.*", "spark.a*b", "s3a://bucket/a?region=b",
	"HTTPS://a.example.com:8443/b.yaml gs://c", "https://a/../b", "https://user@a/b",
	"0g", "16g", "016GiB", "Registry", "registry.example.com/a, Registry/b",
	"https://templates.example.com/spark/", "file:///etc/", "- hosts: [a]", "a: b", "restartConfig: {restartPolicy: Never}", "- a", "{\"level\":\"info\"}",
}

// A value that the controller takes is not refused by the schema. What only the controller can judge is text for the schema.
func TestSchemaAgreesWithTheController(t *testing.T) {
	all := compiled(t)
	refused := map[string]int{}
	for name, keys := range settings {
		for key, property := range keys {
			for _, sample := range samples {
				values, err := json.Marshal(map[string]any{"settings": map[string]any{name: map[string]any{key: sample}}})
				if err != nil {
					t.Fatal(err)
				}
				schemaErr := all.Validate(decoded(t, values))
				controllerErr := checkOf(t, name, map[string]string{key: sample})
				if schemaErr != nil && controllerErr == nil && !narrower[key] {
					t.Errorf("%s of %s may be %q, and the schema refuses it: %v", key, name, sample, schemaErr)
				}
				if schemaErr != nil && controllerErr != nil {
					refused[name+" "+key]++
				}
			}
			if plain := fmt.Sprint(property) == fmt.Sprint(text()); !plain && refused[name+" "+key] == 0 && !structured[key] {
				t.Errorf("the schema refuses no sample of %s of %s", key, name)
			}
		}
	}
}

var (
	// narrower lists keys whose values the chart takes in one spelling, though the controller takes more.
	narrower = map[string]bool{"loglevel.controller": true}
	// structured lists keys that may be an object, or the text of one.
	structured = map[string]bool{"applicationTolerations": true, "ingress-tls": true, "ingress-annotations": true, "ui-gateway": true, "namespaces": true, "event-logs-resources": true, "labels": true, "resource-quota": true, "limit-range": true, "network-policy": true}
)

func TestConvertedDefaultsFitTheSchema(t *testing.T) {
	all := compiled(t)
	for _, chart := range move.Charts {
		text := othercharts.Converted(t, "../..", chart)
		if err := all.Validate(decoded(t, text)); err != nil {
			t.Errorf("%s: %v\n%s", chart.Name, err, text)
		}
	}
}
