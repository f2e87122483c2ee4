package settings_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/firesteel-dev/firesteel/pkg/cli/settings"
)

func TestSettingsOfAnInstallationAreThoseOfItsNamespace(t *testing.T) {
	client := fake.NewClientset(&corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "config-console", Namespace: "spark-system"}, Data: map[string]string{"team-label": "example.com/squad"},
	})
	read, err := settings.Installation(t.Context(), client, "spark-system")
	if err != nil || read.Console.TeamLabel != "example.com/squad" {
		t.Errorf("the label is %+v: %v", read, err)
	}
	if _, err := settings.Installation(t.Context(), client, "team-a"); err == nil || !strings.Contains(err.Error(), "the namespace team-a has no settings of Firesteel: write the namespace of Firesteel after --settings-namespace") {
		t.Errorf("a namespace without settings: %v", err)
	}
}
