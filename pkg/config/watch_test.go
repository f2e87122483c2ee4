package config_test

import (
	"context"
	goruntime "runtime"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic/fake"
	logtesting "knative.dev/pkg/logging/testing"

	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/test/harness/fakeclient"
)

var configMaps = corev1.SchemeGroupVersion.WithResource("configmaps")

// cluster returns a client with the config maps, except for missing ones. restart is the location of the restart handler.
func cluster(t *testing.T, restart string, without ...string) *fake.FakeDynamicClient {
	t.Helper()
	var objects []runtime.Object
	for _, name := range append(config.Names(), "another") {
		configMap := named(name, data())
		if name == config.HandlersName {
			configMap = named(name, data("restart", restart))
		}
		if !strings.Contains(strings.Join(without, " "), name) {
			configMap.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}
			objects = append(objects, configMap)
		}
	}
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	return fake.NewSimpleDynamicClient(scheme, objects...)
}

func TestStoreFollowsTheConfigMapsOfANamespace(t *testing.T) {
	client := cluster(t, config.External)
	edited := make(chan struct{}, 1)
	store := config.NewStore(logtesting.TestLogger(t), func(before, after *config.Config) {
		if before.Handlers.InProcess("restart") != after.Handlers.InProcess("restart") && after.Handlers.InProcess("restart") {
			edited <- struct{}{}
		}
	}, func(*corev1.ConfigMap, error) {})
	if err := store.Follow(t.Context(), client, "firesteel-system"); err != nil {
		t.Fatal(err)
	}
	if store.Load().Handlers.InProcess("restart") {
		t.Error("the settings that there are were not read")
	}
	for !fakeclient.WatchesAll(&client.Fake) {
		goruntime.Gosched()
	}
	edit := named(config.HandlersName, data("restart", config.InProcess))
	edit.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(edit)
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.Resource(configMaps).Namespace("firesteel-system").Update(
		t.Context(), &unstructured.Unstructured{Object: content}, metav1.UpdateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	<-edited
}

func TestStoreNamesAMissingConfigMap(t *testing.T) {
	store := config.NewStore(logtesting.TestLogger(t), func(*config.Config, *config.Config) {}, func(*corev1.ConfigMap, error) {})
	err := store.Follow(t.Context(), cluster(t, config.InProcess, config.ScopeName, config.EventsName), "firesteel-system")
	for _, name := range []string{config.ScopeName, config.EventsName} {
		if err == nil || !strings.Contains(err.Error(), "there is no ConfigMap firesteel-system/"+name) {
			t.Errorf("the error is %v, and %s is missing", err, name)
		}
	}
}

func TestStoreThatCannotReadEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	store := config.NewStore(logtesting.TestLogger(t), func(*config.Config, *config.Config) {}, func(*corev1.ConfigMap, error) {})
	if err := store.Follow(ctx, cluster(t, config.InProcess), "firesteel-system"); err == nil {
		t.Error("Follow reports that it has read the config maps")
	}
}
