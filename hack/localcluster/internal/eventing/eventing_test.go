package eventing

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// module writes files as the module's archive has them.
func module(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for _, folder := range folders {
		if err := os.MkdirAll(filepath.Join(dir, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, content := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const deployment = `
# a licence
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: broker-filter}
spec:
  replicas: 3
  template:
    spec:
      containers:
        - name: filter
          image: ko://knative.dev/eventing/cmd/broker/filter
          resources:
            requests: {cpu: 100m, memory: 100Mi}
            limits: {cpu: 200m}
`

func TestManifestsAreOneSmallPodEachAndTheNamespaceFirst(t *testing.T) {
	list, err := Manifests(module(t, map[string]string{
		"config/core/100-namespace.yaml":                                         "apiVersion: v1\nkind: Namespace\nmetadata: {name: knative-eventing}\n",
		"config/core/deployments/webhook-hpa.yaml":                               "kind: HorizontalPodAutoscaler\n",
		"config/core/deployments/job-sink.yaml":                                  "kind: Deployment\n",
		"config/brokers/mt-channel-broker/deployments/broker-filter.yaml":        deployment,
		"config/brokers/mt-channel-broker/200-roles.yaml~cd5b396a2 (a leftover)": "kind: [",
	}))
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, object := range list.Items {
		kinds = append(kinds, object.GetKind())
	}
	if want := []string{"Namespace", "Deployment", "ConfigMap", "ConfigMap"}; !slices.Equal(kinds, want) {
		t.Fatalf("got %v, want %v", kinds, want)
	}
	filter := list.Items[1].Object
	containers, _, _ := unstructured.NestedSlice(filter, "spec", "template", "spec", "containers")
	container := containers[0].(map[string]any)
	if container["image"] != Reference("broker/filter") {
		t.Errorf("the image is %v", container["image"])
	}
	if cpu, found, _ := unstructured.NestedString(container, "resources", "requests", "cpu"); found {
		t.Errorf("it requests %s of CPU", cpu)
	}
	if memory, _, _ := unstructured.NestedString(container, "resources", "requests", "memory"); memory != "100Mi" {
		t.Errorf("it requests %q of memory", memory)
	}
	if replicas, _, _ := unstructured.NestedInt64(filter, "spec", "replicas"); replicas != 1 {
		t.Errorf("it has %d replicas", replicas)
	}
	if names := Deployments(list); !slices.Equal(names, []string{"broker-filter"}) {
		t.Errorf("deployments are %v", names)
	}
}

func TestManifestThatIsNoYAMLIsNamed(t *testing.T) {
	_, err := Manifests(module(t, map[string]string{"config/core/broken.yaml": "kind: ["}))
	if err == nil || !strings.Contains(err.Error(), "broken.yaml") {
		t.Errorf("got %v", err)
	}
}
