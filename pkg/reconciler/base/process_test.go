package base

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/record"
	kubeclient "knative.dev/pkg/client/injection/kube/client"
	"knative.dev/pkg/configmap"
	"knative.dev/pkg/controller"

	"github.com/firesteel-dev/firesteel/pkg/config"
)

// At a start, the other ConfigMaps are read before the scope.
func TestProcessStartsAgainIfItsInformersHaveToReadOtherNamespaces(t *testing.T) {
	listed := map[string]string{"access": "namespaces", "watched-namespaces": "b,a"}
	for name, test := range map[string]struct {
		started     []string
		first, then map[string]string
		want        int
	}{
		"nothing else":                 {[]string{"a", "b"}, listed, listed, 0},
		"another order":                {[]string{"a", "b"}, listed, map[string]string{"access": "namespaces", "watched-namespaces": "a, b"}, 0},
		"other applications":           {[]string{"a", "b"}, listed, map[string]string{"access": "namespaces", "watched-namespaces": "a,b", "label-selector": "x=y"}, 0},
		"one more":                     {[]string{"a", "b"}, listed, map[string]string{"access": "namespaces", "watched-namespaces": "a,b,c"}, 1},
		"one less":                     {[]string{"a", "b"}, listed, map[string]string{"access": "namespaces", "watched-namespaces": "a"}, 1},
		"all":                          {[]string{"a", "b"}, listed, nil, 1},
		"changed since the first read": {[]string{"a"}, listed, listed, 2},
		"others of the cluster":        {nil, nil, map[string]string{"watched-namespaces": "a"}, 0},
		"no more the cluster":          {nil, nil, listed, 1},
	} {
		t.Run(name, func(t *testing.T) {
			restarts := 0
			ctx := context.WithValue(t.Context(), kubeclient.Key{}, fake.NewClientset())
			ctx = controller.WithEventRecorder(ctx, record.NewFakeRecorder(10))
			process := NewProcess(nil, Started{OnlyNamespaces: test.started}, func() { restarts++ })
			watcher := &configmap.ManualWatcher{Namespace: "firesteel-system"}
			process.Settings(ctx, watcher)
			change := func(name string, data map[string]string) {
				watcher.OnChange(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "firesteel-system", Name: name}, Data: data})
			}
			for _, name := range config.Names() {
				if name != config.ScopeName {
					change(name, nil)
				}
			}
			if restarts > 0 {
				t.Error("the process starts again before it knows its scope")
			}
			change(config.ScopeName, test.first)
			change(config.ScopeName, test.then)
			if restarts != test.want {
				t.Errorf("the process starts again %d times, want %d", restarts, test.want)
			}
		})
	}
}
