package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	"knative.dev/pkg/leaderelection"
	"knative.dev/pkg/logging"
	"knative.dev/pkg/observability"
	"sigs.k8s.io/yaml"

	"github.com/firesteel-dev/firesteel/pkg/config"
)

// manifest reads a config map as it is applied, and its example as if it were its data.
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
	pages, err := os.ReadFile("../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range config.Names() {
		t.Run(name, func(t *testing.T) {
			applied, example := manifest(t, name)
			if applied.Name != name || len(applied.Data) != 1 {
				t.Errorf("it is named %s, and has other data than its example: %v", applied.Name, applied.Data)
			}
			store := config.NewStore(zap.NewNop().Sugar(), unheard, func(_ *corev1.ConfigMap, err error) { t.Error(err) })
			store.OnConfigChanged(applied)
			store.OnConfigChanged(example)
			_, listed, _ := strings.Cut(refusalOf(t, named(name, data("no-key", ""))), "write one of ")
			for key := range strings.SplitSeq(listed, ", ") {
				if _, explained := example.Data[key]; !explained {
					t.Errorf("the example does not explain %s", key)
				}
				if !strings.Contains(string(pages), "`"+key+"`") {
					t.Errorf("docs/configuration.md does not explain %s", key)
				}
			}
		})
	}
}

// Knative reads these itself.
func TestKnativesManifests(t *testing.T) {
	applied, _ := manifest(t, "config-leader-election")
	election, err := leaderelection.NewConfigFromConfigMap(applied)
	if err != nil {
		t.Fatal(err)
	}
	want := &leaderelection.Config{
		Buckets: 1, LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
		LeaseNamesPrefixMapping: election.LeaseNamesPrefixMapping,
	}
	if diff := cmp.Diff(want, election); diff != "" {
		t.Errorf("leader election (-want +got):\n%s", diff)
	}

	applied, _ = manifest(t, "config-logging")
	if logs, err := logging.NewConfigFromConfigMap(applied); err != nil || logs.LoggingLevel["controller"] != zap.InfoLevel {
		t.Errorf("logging is %+v, %v", logs, err)
	}

	applied, example := manifest(t, "config-observability")
	if _, err := observability.NewFromMap(applied.Data); err != nil {
		t.Error(err)
	}
	if _, err := observability.NewFromMap(example.Data); err != nil {
		t.Errorf("the example: %v", err)
	}
}
