// Package namespaces makes the objects that a namespace needs so that drivers can run in it, from the templates of config-namespaces:
//
//	Template ──> Namespace ──> label, name
//	         └─> Objects ────> ServiceAccounts, ResourceQuota, LimitRange, NetworkPolicy, RoleBinding
//
// It is pure. Package provision creates the objects.
package namespaces

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

const (
	// LabelWorkloads is the label by which a namespace asks for its objects. Its value is Enabled.
	LabelWorkloads = "firesteel.dev/workloads"
	// Enabled is the value of LabelWorkloads.
	Enabled = "enabled"
	// LabelOwner marks the objects that Firesteel created. Its value is Owner.
	LabelOwner = "app.kubernetes.io/part-of"
	// Owner is the value of LabelOwner.
	Owner = "firesteel"
	// Handler is the name of the handler that makes such a namespace ready.
	Handler = "namespace"
	// Binding is the name of the RoleBinding. A namespace that has it is ready.
	Binding = "spark-driver-accounts"
	// workloads is the name of the objects of which a namespace has one.
	workloads = "spark-workloads"
)

// Template is what a namespace gets.
type Template struct {
	// Labels are those of a namespace that is created.
	Labels map[string]string
	// ServiceAccounts are the names of the accounts of drivers.
	ServiceAccounts []string
	// DriverRole is the ClusterRole that the accounts are bound to.
	DriverRole string
	// Quota, Limits and NetworkPolicy are nil if a namespace gets none.
	Quota         *corev1.ResourceQuotaSpec
	Limits        *corev1.LimitRangeSpec
	NetworkPolicy *networkingv1.NetworkPolicySpec
}

// DefaultTemplate returns the template of an empty config-namespaces: the accounts that the manifests of both Spark operators name.
func DefaultTemplate() Template {
	return Template{ServiceAccounts: []string{"spark", "spark-operator-spark"}, DriverRole: "spark-driver"}
}

// Object is an object of any kind.
type Object interface {
	metav1.Object
	runtime.Object
}

// Namespace returns a namespace, with the labels of the template.
func Namespace(t Template, name string) *corev1.Namespace {
	labels := maps.Clone(t.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	labels[LabelOwner] = Owner
	return &corev1.Namespace{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
	}
}

// Objects returns the objects of a namespace. The RoleBinding is the last one: a namespace that has it has all others.
func Objects(t Template, namespace string) []Object {
	meta := func(name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{LabelOwner: Owner}}
	}
	var objects []Object
	binding := &rbacv1.RoleBinding{
		TypeMeta: metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "RoleBinding"}, ObjectMeta: meta(Binding),
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: t.DriverRole},
	}
	for _, account := range t.ServiceAccounts {
		objects = append(objects, &corev1.ServiceAccount{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ServiceAccount"}, ObjectMeta: meta(account),
		})
		binding.Subjects = append(binding.Subjects, rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Name: account, Namespace: namespace})
	}
	if t.Quota != nil {
		objects = append(objects, &corev1.ResourceQuota{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ResourceQuota"}, ObjectMeta: meta(workloads), Spec: *t.Quota.DeepCopy(),
		})
	}
	if t.Limits != nil {
		objects = append(objects, &corev1.LimitRange{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "LimitRange"}, ObjectMeta: meta(workloads), Spec: *t.Limits.DeepCopy(),
		})
	}
	if t.NetworkPolicy != nil {
		policy := &networkingv1.NetworkPolicy{
			TypeMeta:   metav1.TypeMeta{APIVersion: networkingv1.SchemeGroupVersion.String(), Kind: "NetworkPolicy"},
			ObjectMeta: meta(workloads), Spec: *t.NetworkPolicy.DeepCopy(),
		}
		if types := policy.Spec.PolicyTypes; len(types) == 0 || slices.Contains(types, networkingv1.PolicyTypeIngress) {
			policy.Spec.Ingress = append(policy.Spec.Ingress, openPorts())
		}
		objects = append(objects, policy)
	}
	return append(objects, binding)
}

// openPorts lets everyone reach the UI of drivers and the metrics of drivers and executors, by the names of their ports. Without it, a
// policy would close the UI to its Service, and the metrics to Prometheus.
func openPorts() networkingv1.NetworkPolicyIngressRule {
	tcp := corev1.ProtocolTCP
	var rule networkingv1.NetworkPolicyIngressRule
	for _, name := range []string{"spark-ui", "jmx-exporter"} {
		port := intstr.FromString(name)
		rule.Ports = append(rule.Ports, networkingv1.NetworkPolicyPort{Protocol: &tcp, Port: &port})
	}
	return rule
}

// Asks reports whether a namespace asks for its objects.
func Asks(namespace metav1.Object) bool { return namespace.GetLabels()[LabelWorkloads] == Enabled }

// Owned reports whether Firesteel created an object.
func Owned(object metav1.Object) bool { return object.GetLabels()[LabelOwner] == Owner }

// Command returns the command that makes a namespace ready for drivers.
func Command(namespace string) string { return fmt.Sprintf("kubectl spark namespace %s", namespace) }
