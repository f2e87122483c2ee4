package main

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/scheme"
)

func TestNamespaceIsCreatedWithTheTemplates(t *testing.T) {
	settings := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "firesteel-system", Name: "config-namespaces"},
		Data:       map[string]string{"service-accounts": "etl", "resource-quota": "hard: {pods: 3}"},
	}
	client := dynamicfake.NewSimpleDynamicClient(scheme.Scheme, settings)
	const want = `Namespace team-a: created
ServiceAccount team-a/etl: created
ResourceQuota team-a/spark-workloads: created
RoleBinding team-a/spark-driver-accounts: created
`
	for _, want := range []string{want, strings.ReplaceAll(want, "created", "exists")} {
		var out strings.Builder
		if err := run(t.Context(), client, "firesteel-system", "team-a", &out); err != nil || out.String() != want {
			t.Errorf("it says (%v)\n%s\nwant\n%s", err, out.String(), want)
		}
	}
}

func TestNamespaceThatExistsKeepsItsLabels(t *testing.T) {
	client := dynamicfake.NewSimpleDynamicClient(scheme.Scheme, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team-a"}})
	var out strings.Builder
	if err := run(t.Context(), client, "firesteel-system", "team-a", &out); err != nil ||
		!strings.HasPrefix(out.String(), "Namespace team-a: left as it is, without the labels of the template\nServiceAccount team-a/spark: created\n") {
		t.Errorf("it says (%v)\n%s", err, out.String())
	}
}

func TestNamespaceIsNotCreatedWithABadNameOrABadTemplate(t *testing.T) {
	settings := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "firesteel-system", Name: "config-namespaces"},
		Data:       map[string]string{"resource-quota": "hard: {pods: many}"},
	}
	client := dynamicfake.NewSimpleDynamicClient(scheme.Scheme, settings)
	for name, want := range map[string]string{
		"Team": `"Team" is not the name of a namespace`, "team-a": `config-namespaces: resource-quota is "hard: {pods: many}"`,
	} {
		var out strings.Builder
		if err := run(t.Context(), client, "firesteel-system", name, &out); err == nil || !strings.Contains(err.Error(), want) || out.Len() > 0 {
			t.Errorf("%s: error is %v, want %s; it says %q", name, err, want, out.String())
		}
	}
}
