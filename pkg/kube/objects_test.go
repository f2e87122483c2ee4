package kube_test

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/client/clientset/versioned/fake"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/kube"
)

func TestObjectsOfSeveralTypesAreReadAndWritten(t *testing.T) {
	meta := metav1.ObjectMeta{Namespace: "team-a", Name: "pi"}
	clients := fake.NewSimpleClientset(&sparkv1.SparkApplication{ObjectMeta: meta}, &v1beta2.SparkApplication{ObjectMeta: meta})
	for name, client := range map[string]kube.Client[dialect.Application]{
		"Apache":   kube.ClientOf[dialect.Application](clients.SparkV1().SparkApplications("team-a")),
		"Kubeflow": kube.ClientOf[dialect.Application](clients.SparkoperatorV1beta2().SparkApplications("team-a")),
	} {
		t.Run(name, func(t *testing.T) {
			got, err := client.Get(t.Context(), "pi")
			if err != nil || got.GetName() != "pi" {
				t.Fatalf("got %v, %v", got, err)
			}
			if got, err = client.UpdateStatus(t.Context(), got); err != nil || got.GetName() != "pi" {
				t.Errorf("wrote %v, %v", got, err)
			}
			got, err = client.Patch(t.Context(), "pi", []byte(`{"metadata": {"labels": {"team": "a"}}}`))
			if err != nil || got.GetLabels()["team"] != "a" {
				t.Errorf("patched %v, %v", got, err)
			}
			if err := client.Delete(t.Context(), "pi", metav1.DeleteOptions{}); err != nil {
				t.Error(err)
			}
			if _, err = client.Get(t.Context(), "pi"); !apierrors.IsNotFound(err) {
				t.Errorf("after its deletion: %v", err)
			}
		})
	}
}
