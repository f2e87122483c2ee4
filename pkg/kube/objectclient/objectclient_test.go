package objectclient_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/firesteel-dev/firesteel/pkg/kube/objectclient"
)

func TestObjectClientWritesAndReadsOneObjectOfAnyKind(t *testing.T) {
	route := &unstructured.Unstructured{}
	route.SetGroupVersionKind(schema.GroupVersionKind{Group: "gateway.networking.k8s.io", Version: "v1", Kind: "HTTPRoute"})
	route.SetNamespace("team-a")
	route.SetName("pi-ui")
	for _, object := range []objectclient.Object{
		&corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "pi"}}, route,
	} {
		t.Run(objectclient.KindOf(object), func(t *testing.T) {
			client, err := objectclient.For(fake.NewClientset(), dynamicfake.NewSimpleDynamicClient(runtime.NewScheme()), object)
			if err != nil {
				t.Fatal(err)
			}
			created, err := client.Create(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			created.SetLabels(map[string]string{"team": "a"})
			if _, err := client.Update(t.Context(), created); err != nil {
				t.Fatal(err)
			}
			if live, err := client.Get(t.Context()); err != nil || live.GetLabels()["team"] != "a" {
				t.Errorf("Get returned %v, %v", live, err)
			}
			if err := client.Delete(t.Context(), metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
			if _, err := client.Get(t.Context()); !apierrors.IsNotFound(err) {
				t.Errorf("Get of a deleted object returned %v", err)
			}
		})
	}
}

func TestObjectClientDoesNotSendAnOversizedObject(t *testing.T) {
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{
		Namespace: "team-a", Name: "pi", Annotations: map[string]string{"text": strings.Repeat("x", 300<<10)},
	}}
	clientset := fake.NewClientset()
	client, err := objectclient.For(clientset, nil, service)
	if err != nil {
		t.Fatal(err)
	}
	_, created := client.Create(t.Context())
	_, updated := client.Update(t.Context(), service)
	if !apierrors.IsInvalid(created) || !apierrors.IsInvalid(updated) || len(clientset.Actions()) > 0 {
		t.Errorf("Create returned %v, Update %v, after %d requests", created, updated, len(clientset.Actions()))
	}
}
