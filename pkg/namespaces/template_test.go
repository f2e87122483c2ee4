package namespaces_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"sigs.k8s.io/yaml"

	"github.com/firesteel-dev/firesteel/pkg/namespaces"
)

// described returns kinds and names, in order.
func described(objects []namespaces.Object) string {
	var texts []string
	for _, object := range objects {
		texts = append(texts, object.GetObjectKind().GroupVersionKind().Kind+" "+object.GetNamespace()+"/"+object.GetName())
	}
	return strings.Join(texts, ", ")
}

func TestDefaultObjectsAreThoseOfTheManifest(t *testing.T) {
	manifest, err := os.ReadFile("../../config/workload/rbac.yaml")
	if err != nil {
		t.Fatal(err)
	}
	documents := strings.Split(string(manifest), "\n---\n")
	objects := namespaces.Objects(namespaces.DefaultTemplate(), "default")
	if len(objects) != len(documents) {
		t.Fatalf("there are %d objects, and %d in the manifest", len(objects), len(documents))
	}
	for i, object := range objects {
		var want, got any
		text, err := yaml.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		for text, into := range map[string]*any{documents[i]: &want, string(text): &got} {
			if err := yaml.Unmarshal([]byte(text), into); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("object %d differs from the manifest (-want +got):\n%s", i, diff)
		}
	}
}

func TestObjectsOfEveryTemplateEndWithTheRoleBinding(t *testing.T) {
	template := namespaces.DefaultTemplate()
	template.ServiceAccounts = []string{"etl"}
	template.Quota, template.Limits, template.NetworkPolicy = &corev1.ResourceQuotaSpec{}, &corev1.LimitRangeSpec{}, &networkingv1.NetworkPolicySpec{}
	objects := namespaces.Objects(template, "team-a")
	want := "ServiceAccount team-a/etl, ResourceQuota team-a/spark-workloads, LimitRange team-a/spark-workloads, " +
		"NetworkPolicy team-a/spark-workloads, RoleBinding team-a/spark-driver-accounts"
	if got := described(objects); got != want {
		t.Errorf("the objects are %s, want %s", got, want)
	}
	for _, object := range objects {
		if !namespaces.Owned(object) {
			t.Errorf("%s is not marked", object.GetName())
		}
	}
}

func TestNetworkPolicyOpensPortsIfItRestrictsIncomingTraffic(t *testing.T) {
	for name, test := range map[string]struct {
		types []networkingv1.PolicyType
		opens bool
	}{
		"by default": {nil, true},
		"ingress":    {[]networkingv1.PolicyType{"Ingress", "Egress"}, true},
		"egress":     {[]networkingv1.PolicyType{"Egress"}, false},
	} {
		template := namespaces.DefaultTemplate()
		template.NetworkPolicy = &networkingv1.NetworkPolicySpec{PolicyTypes: test.types}
		for range 2 { // the template is not changed
			var ports []string
			for _, object := range namespaces.Objects(template, "team-a") {
				if policy, ok := object.(*networkingv1.NetworkPolicy); ok {
					for _, rule := range policy.Spec.Ingress {
						for _, port := range rule.Ports {
							ports = append(ports, port.Port.String())
						}
					}
				}
			}
			want := map[bool]string{true: "spark-ui, jmx-exporter"}[test.opens]
			if got := strings.Join(ports, ", "); got != want {
				t.Errorf("%s: it opens %q, want %q", name, got, want)
			}
		}
	}
}

func TestNamespaceHasTheLabelsOfTheTemplateAndTheMark(t *testing.T) {
	template := namespaces.DefaultTemplate()
	template.Labels = map[string]string{"stage": "test"}
	want := map[string]string{"stage": "test", namespaces.LabelOwner: namespaces.Owner}
	if diff := cmp.Diff(want, namespaces.Namespace(template, "team-a").Labels); diff != "" {
		t.Error(diff)
	}
	if len(template.Labels) != 1 {
		t.Errorf("the template's labels changed: %v", template.Labels)
	}
}
