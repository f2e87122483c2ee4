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

func TestEachPartOfAClustersPodsIsChecked(t *testing.T) {
	for _, role := range []string{"master", "worker"} {
		at := "spec." + role + "Spec."
		pod := at + "statefulSetSpec.template.spec."
		for spec, want := range map[string]string{
			"statefulSetMetadata: {labels: {'a b': c}}":                                                                                                      at + "statefulSetMetadata.labels[a b]",
			"serviceMetadata: {labels: {a: 'c d'}}":                                                                                                          at + "serviceMetadata.labels[a]",
			"statefulSetMetadata: {labels: {spark.operator/name: 'is overwritten', a: b}}":                                                                   "",
			"statefulSetSpec: {template: {metadata: {labels: {a: 'c d', spark-role: 'x y'}}}}":                                                               at + "statefulSetSpec.template.metadata.labels[a]",
			"statefulSetSpec: {template: {spec: {containers: [{name: side, image: a}, {name: side, image: x}, {}]}}}":                                        pod + "containers[1].name",
			"statefulSetSpec: {template: {spec: {containers: [{name: side}, {name: " + role + "}]}}}":                                                        pod + "containers[0].image",
			"statefulSetSpec: {template: {spec: {containers: [{name: " + role + ", volumeMounts: [{name: nope, mountPath: /x}]}]}}}":                         pod + "containers[0].volumeMounts[0].name",
			"statefulSetSpec: {volumeClaimTemplates: [{metadata: {name: v}}], template: {spec: {containers: [{volumeMounts: [{name: v, mountPath: /x}]}]}}}": "",
			"statefulSetSpec: {template: {spec: {containers: [{resources: {limits: {cpu: 1m}, requests: {cpu: 1}}}]}}}":                                      pod + "containers[0].resources.limits[cpu]",
		} {
			found := status.Invalid(of(t, role+"Spec: {"+spec+"}"), nil)
			if want == "" && len(found) > 0 || want != "" && (len(found) != 1 || found[0].Field != want) {
				t.Errorf("%s: it finds %q, want %s", spec, found.Sentences(), want)
			}
		}
	}
}
