package install

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// The examples install the chart of a release, with values that it takes.
func TestGitOpsExamplesInstallTheChart(t *testing.T) {
	for _, test := range []struct{ file, kind, namespace, name, values string }{
		{"examples/argo-cd/application.yaml", "Application", "spec.destination.namespace", "spec.source.helm.releaseName", "spec.source.helm.valuesObject"},
		{"examples/flux/helmrelease.yaml", "HelmRelease", "spec.targetNamespace", "spec.releaseName", "spec.values"},
	} {
		text, err := os.ReadFile(filepath.Join(root, test.file))
		if err != nil {
			t.Fatal(err)
		}
		all := objects{}
		all.add(t, test.file, text)
		o := all.get(t, test.kind, "firesteel")
		values, _, err := unstructured.NestedMap(o.Object, strings.Split(test.values, ".")...)
		if err != nil {
			t.Fatal(err)
		}
		written, err := yaml.Marshal(values)
		if err != nil {
			t.Fatal(err)
		}
		name, _, _ := unstructured.NestedString(o.Object, strings.Split(test.name, ".")...)
		namespace, _, _ := unstructured.NestedString(o.Object, strings.Split(test.namespace, ".")...)
		rendered, _, err := release{name, namespace, string(written)}.render(t)
		if err != nil {
			t.Fatalf("%s: %v", test.file, err)
		}
		controller := rendered.get(t, "Deployment", "controller")
		expect(t, controller, "{metadata: {namespace: firesteel-system}, spec: {replicas: 2}}")
		expect(t, rendered.get(t, "ConfigMap", "config-leader-election"), "data: {buckets: '4'}")
	}
}
