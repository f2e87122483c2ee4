package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/fake"
	"knative.dev/pkg/leaderelection"
	"sigs.k8s.io/yaml"

	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/config/knative"
)

// manifest reads the manifest of a config map, and a copy that has the example as its data.
func manifest(t *testing.T, name string) (applied, example *corev1.ConfigMap) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "config", "400-"+name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	applied = &corev1.ConfigMap{}
	if err := yaml.UnmarshalStrict(text, applied); err != nil {
		t.Fatal(err)
	}
	example = applied.DeepCopy()
	example.Data = map[string]string{}
	if err := yaml.UnmarshalStrict([]byte(applied.Data["_example"]), &example.Data); err != nil {
		t.Fatalf("the example of %s: %v", name, err)
	}
	return applied, example
}

func TestManifestsExplainEveryKey(t *testing.T) {
	pages, err := os.ReadFile("../../docs/operators/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range config.Names() {
		t.Run(name, func(t *testing.T) {
			applied, example := manifest(t, name)
			if applied.Name != name || len(applied.Data) != 1 {
				t.Errorf("it is named %s, and has other data than its example: %v", applied.Name, applied.Data)
			}
			store := config.NewStore(zap.NewNop().Sugar(), ignoreChange, func(_ *corev1.ConfigMap, err error) { t.Error(err) })
			store.OnConfigChanged(applied)
			store.OnConfigChanged(example)
			_, listed, _ := strings.Cut(rejectionOf(t, named(name, data("no-key", ""))), "write one of ")
			for key := range strings.SplitSeq(listed, ", ") {
				if _, explained := example.Data[key]; !explained {
					t.Errorf("the example does not explain %s", key)
				}
				if !strings.Contains(string(pages), "`"+key+"`") {
					t.Errorf("docs/operators/configuration.md does not explain %s", key)
				}
			}
		})
	}
}

// Knative reads these config maps, and Firesteel checks them.
func TestManifestsOfKnative(t *testing.T) {
	page, err := os.ReadFile("../../docs/operators/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	for name, keys := range map[string]string{
		"config-logging":         "loglevel.controller zap-logger-config",
		"config-leader-election": "lease-duration renew-deadline retry-period buckets map-lease-prefix.*",
		"config-observability": "metrics-protocol metrics-endpoint metrics-export-interval tracing-protocol tracing-endpoint " +
			"tracing-sampling-rate runtime-profiling runtime-export-interval",
	} {
		applied, example := manifest(t, name)
		client := fake.NewClientset(applied)
		if err := knative.Check(t.Context(), client.CoreV1().ConfigMaps(applied.Namespace)); err != nil {
			t.Error(err)
		}
		client = fake.NewClientset(example)
		if err := knative.Check(t.Context(), client.CoreV1().ConfigMaps(applied.Namespace)); err != nil {
			t.Errorf("the example: %v", err)
		}
		for key := range strings.FieldsSeq(keys) {
			if !strings.Contains(string(page), "`"+key+"`") {
				t.Errorf("docs/operators/configuration.md does not explain %s", key)
			}
		}
	}
	applied, _ := manifest(t, "config-leader-election")
	election, err := leaderelection.NewConfigFromConfigMap(applied)
	if err != nil {
		t.Fatal(err)
	}
	if election.Buckets != 1 || election.LeaseDuration != 15*time.Second || election.RenewDeadline != 10*time.Second ||
		election.RetryPeriod != 2*time.Second {
		t.Errorf("leases are %+v, want 15 s, 10 s, 2 s, and one bucket", election)
	}
}
