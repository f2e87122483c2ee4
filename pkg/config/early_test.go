package config_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/early"
)

func TestSettingsOfTheEarlyAPI(t *testing.T) {
	given, err := config.NewEarly(data("image-replacements", "kubespark/*=spark:3.5.7\n, a=b ", "spark-version", " 3.5 ", "ui-service-type", "ClusterIP\n",
		"ui-gateway", "{name: public, namespace: infra, listener: https, urlFormat: 'https://{{$appName}}.example.com'}"))
	if err != nil {
		t.Fatal(err)
	}
	want := &config.Early{
		ImageReplacements: []early.ImageReplacement{{Pattern: "kubespark/*", Image: "spark:3.5.7"}, {Pattern: "a", Image: "b"}},
		SparkVersion:      "3.5", UIServiceType: corev1.ServiceTypeClusterIP,
		UIGateway: &dialect.Gateway{Name: "public", Namespace: "infra", Listener: "https"}, UIURLFormat: "https://{{$appName}}.example.com",
	}
	if diff := cmp.Diff(want, given); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
	defaults, err := config.NewEarly(data())
	if err != nil || defaults.UIServiceType != corev1.ServiceTypeNodePort || defaults.UIGateway != nil || len(defaults.ImageReplacements) > 0 {
		t.Errorf("defaults are %+v, %v", defaults, err)
	}
}

func TestApplicationsOfTheEarlyAPIHaveTheSettingsOfConfigKubeflow(t *testing.T) {
	c := config.Default()
	c.Kubeflow.DriverServiceAccount, c.Early.SparkVersion, c.Early.UIURLFormat = "spark", "3.5", "a"
	c.Early.UIGateway = &dialect.Gateway{Name: "public"}
	if s := c.OfEarly(); s.Common().DriverServiceAccount != "spark" || s.SparkVersion != "3.5" || s.UIURLFormat != "a" || s.UIGateway.Name != "public" {
		t.Errorf("settings are %+v", s)
	}
}
