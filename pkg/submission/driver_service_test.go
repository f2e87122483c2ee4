package submission

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestTheServicesName(t *testing.T) {
	const fallback = "spark-9f86d09aa56d6031-driver-svc"
	for name, row := range map[string]struct{ prefix, want string }{
		"is the prefix's":                            {"pi", "pi-driver-svc"},
		"may have 63 characters":                     {"p" + strings.Repeat("x", 51), "p" + strings.Repeat("x", 51) + "-driver-svc"},
		"falls back at 64":                           {"p" + strings.Repeat("x", 52), fallback},
		"falls back where a Service may not have it": {"my.app-0", fallback},
	} {
		t.Run(name, func(t *testing.T) {
			plan := pi()
			plan.Names.Prefix = row.prefix
			objects := mustBuild(t, plan)
			wantEqual(t, "name", owned[*corev1.Service](t, objects).Name, row.want)
			wantEqual(t, "host", propertiesOf(t, objects)["spark.driver.host"], row.want+".default.svc")
		})
	}
	plan := pi()
	plan.Names.Prefix, plan.Names.FallbackService = "my.app-0", ""
	wantRefused(t, plan, "names.fallbackService")
}

func TestTheServiceSelectsTheDriverByTheLabelsOfSpark(t *testing.T) {
	plan := templated(pi("spark.kubernetes.driver.label.a=b"), corev1.PodTemplateSpec{})
	plan.DriverTemplate.Labels = map[string]string{"theirs": "x"}
	wantEqual(t, "selector", owned[*corev1.Service](t, mustBuild(t, plan)).Spec.Selector, map[string]string{
		"a": "b", "spark-version": "4.0.1", "spark-app-name": "spark-pi", "spark-role": "driver",
		"spark-app-selector": "spark-7d3c0a5e9b1f4c2f8a6e1d2b3c4f5061",
	})
}

func TestMetadataOfTheService(t *testing.T) {
	service := owned[*corev1.Service](t, mustBuild(t, pi(
		"spark.kubernetes.driver.service.label.a=b", "spark.kubernetes.driver.service.annotation.c={{APP_ID}}",
	)))
	wantEqual(t, "labels", service.Labels, map[string]string{
		"a": "b", "spark-app-selector": "spark-7d3c0a5e9b1f4c2f8a6e1d2b3c4f5061",
	})
	wantEqual(t, "annotations", service.Annotations, map[string]string{"c": "{{APP_ID}}"})
	wantRefused(t, pi("spark.kubernetes.driver.service.label.spark-app-selector=x"), "service.label.spark-app-selector")
}

func TestAddressesOfTheService(t *testing.T) {
	spec := owned[*corev1.Service](t, mustBuild(t, pi(
		"spark.kubernetes.driver.service.ipFamilyPolicy=PreferDualStack",
		"spark.kubernetes.driver.service.ipFamilies=IPv6,IPv4",
		"spark.kubernetes.driver.service.publishNotReadyAddresses=true",
	))).Spec
	wantEqual(t, "policy", *spec.IPFamilyPolicy, corev1.IPFamilyPolicyPreferDualStack)
	wantEqual(t, "families", spec.IPFamilies, []corev1.IPFamily{corev1.IPv6Protocol, corev1.IPv4Protocol})
	wantEqual(t, "publishNotReadyAddresses", spec.PublishNotReadyAddresses, true)
	wantRefused(t, pi("spark.kubernetes.driver.service.ipFamilies=IPv5"), "ipFamilies", "IPv6,IPv4")
	wantRefused(t, pi("spark.kubernetes.driver.service.ipFamilyPolicy=x"), "ipFamilyPolicy")
}

func TestTheProtocolOfSparkConnect(t *testing.T) {
	for version, want := range map[string]string{"4.1.1": "", "4.2.0": "grpc", "4.3.0": "grpc"} {
		plan := pi()
		plan.SparkVersion = version
		ports := owned[*corev1.Service](t, mustBuild(t, plan)).Spec.Ports
		got := ""
		if protocol := ports[len(ports)-1].AppProtocol; protocol != nil {
			got = *protocol
		}
		if got != want {
			t.Errorf("Spark %s: %q, want %q", version, got, want)
		}
	}
}
