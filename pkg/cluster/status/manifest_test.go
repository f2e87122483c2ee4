package status_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/pkg/cluster/status"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
)

func TestServicesOfAClusterHaveBoundedPorts(t *testing.T) {
	for _, role := range []string{"master", "worker"} {
		c := of(t, fmt.Sprintf("%sSpec: {serviceSpec: {type: ClusterIP}}", role))
		spec := func() *corev1.ServiceSpec {
			if role == "master" {
				return c.Spec.MasterSpec.ServiceSpec
			}
			return c.Spec.WorkerSpec.ServiceSpec
		}()
		spec.Ports = make([]corev1.ServicePort, dialect.MaxServicePorts)
		if found := status.Invalid(c, nil); len(found) > 0 {
			t.Errorf("%s: as many ports as may be: %v", role, found)
		}
		spec.Ports = make([]corev1.ServicePort, 45_440)
		want := "spec." + role + "Spec.serviceSpec.ports has 45440 entries: write at most 1000"
		if found := status.Invalid(c, nil); len(found) != 1 || !strings.Contains(found[0].Error(), want) {
			t.Errorf("%s: %v, want %q", role, found, want)
		}
	}
}

func TestPodsOfAClusterThatTheAPIServerRefusesAreFoundBeforeTheyAreCreated(t *testing.T) {
	for _, role := range []string{"master", "worker"} {
		c := of(t, role+"Spec: {statefulSetSpec: {template: {spec: {restartPolicy: Never, containers: [{name: "+role+", imagePullPolicy: Perhaps}]}}}}")
		pod := "spec." + role + "Spec.statefulSetSpec.template.spec."
		want := []string{
			pod + `containers[0].imagePullPolicy "Perhaps" is no value of the field: write one of Always, IfNotPresent, Never.`,
			pod + `restartPolicy "Never" is no value of the field: write Always.`,
		}
		if found := status.Invalid(c, nil).Sentences(); !slices.Equal(found, want) {
			t.Errorf("it finds %q", found)
		}
	}
}
