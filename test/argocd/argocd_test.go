// Package argocd runs Argo CD's own code on Firesteel's objects. It is a module of its own, since Argo CD depends on much.
package argocd

import (
	"os"
	"strings"
	"testing"

	"github.com/argoproj/argo-cd/v3/pkg/apis/application/v1alpha1"
	"github.com/argoproj/argo-cd/v3/util/lua"
	"github.com/argoproj/argo-cd/v3/util/settings"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	"sigs.k8s.io/yaml"

	"github.com/firesteel-dev/firesteel/test/harness/recorded"
)

// overrides returns what Argo CD reads from its ConfigMap with the patch of config/argo-cd.
func overrides(t *testing.T) lua.ResourceHealthOverrides {
	t.Helper()
	text, err := os.ReadFile("../../config/argo-cd/argocd-cm.yaml")
	if err != nil {
		t.Fatal(err)
	}
	configMap := &corev1.ConfigMap{}
	if err := yaml.UnmarshalStrict(text, configMap); err != nil {
		t.Fatal(err)
	}
	configMap.Namespace, configMap.Labels = "argocd", map[string]string{"app.kubernetes.io/part-of": "argocd"}
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "argocd", Name: "argocd-secret", Labels: configMap.Labels},
		Data:       map[string][]byte{"server.secretkey": []byte("key")},
	}
	read, err := settings.NewSettingsManager(t.Context(), fake.NewClientset(configMap, secret), "argocd").GetResourceOverrides()
	if err != nil {
		t.Fatal(err)
	}
	return read
}

func TestArgoCDAssessesObjectsInEachState(t *testing.T) {
	scripts := overrides(t)
	for _, o := range recorded.All() {
		t.Run(o.Name, func(t *testing.T) {
			health, err := scripts.GetResourceHealth(o.Object)
			if err != nil {
				t.Fatal(err)
			}
			if health == nil {
				t.Fatal("Argo CD has no script for the kind")
			}
			if string(health.Status) != string(o.Health) || !strings.Contains(health.Message, o.Message) {
				t.Errorf("it is %s: %s, want %s: %s", health.Status, health.Message, o.Health, o.Message)
			}
		})
	}
}

// A field that Argo CD does not know would have no effect.
func TestArgoCDKnowsEveryFieldOfTheExample(t *testing.T) {
	text, err := os.ReadFile("../../examples/argo-cd/application.yaml")
	if err != nil {
		t.Fatal(err)
	}
	app := &v1alpha1.Application{}
	if err := yaml.UnmarshalStrict(text, app); err != nil {
		t.Fatal(err)
	}
	if app.GroupVersionKind() != v1alpha1.ApplicationSchemaGroupVersionKind {
		t.Errorf("the example is a %s", app.GroupVersionKind())
	}
	source := app.Spec.GetSource()
	if !source.IsHelm() || source.Helm.ValuesObject == nil || len(source.Helm.ValuesObject.Raw) == 0 {
		t.Errorf("the source is no chart with values: %+v", source)
	}
	if options := app.Spec.SyncPolicy.SyncOptions; !options.HasOption("CreateNamespace=true") || !options.HasOption("ServerSideApply=true") {
		t.Errorf("the options are %v", options)
	}
}

// The script that Argo CD has itself compares executorState with the number of executors that the spec asks for.
func TestArgoCDsOwnScriptOnApplicationsOfTheKubeflowAPI(t *testing.T) {
	want := map[string]string{
		"RunningHealthy":                                  "Healthy",
		"RunningHealthy with 1500 executors":              "Progressing", // 1000 are named
		"TerminatedWithoutReleaseResources after success": "Healthy",
		"TerminatedWithoutReleaseResources after failure": "Degraded",
		"Failed, before a restart":                        "Degraded",
		"Suspended":                                       "Progressing",
		"Invalidating":                                    "Missing",
	}
	for _, o := range recorded.KubeflowApplications() {
		status, ok := want[strings.TrimPrefix(o.Name, "sparkoperator.k8s.io/SparkApplication ")]
		if !ok {
			continue
		}
		delete(want, strings.TrimPrefix(o.Name, "sparkoperator.k8s.io/SparkApplication "))
		health, err := lua.ResourceHealthOverrides{}.GetResourceHealth(o.Object)
		if err != nil || health == nil {
			t.Fatalf("%s: %v, %v", o.Name, health, err)
		}
		if string(health.Status) != status {
			t.Errorf("%s is %s: %s, want %s", o.Name, health.Status, health.Message, status)
		}
	}
	if len(want) > 0 {
		t.Errorf("no object is in the states %v", want)
	}
}
