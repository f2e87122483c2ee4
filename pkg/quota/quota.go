package quota

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
)

// Quota is a ResourceQuota.
type Quota struct {
	Name       string
	Hard, Used Usage
	scopes     []corev1.ScopedResourceSelectorRequirement
}

// Read reads a ResourceQuota. A resource that its status does not have yet has the limit of the spec, and is unused.
func Read(object *corev1.ResourceQuota) Quota {
	q := Quota{Name: object.Name, Hard: Usage{}, Used: Usage{}}
	for name, hard := range object.Spec.Hard {
		if enforced, known := object.Status.Hard[name]; known {
			hard = enforced
		}
		used := object.Status.Used[name]
		q.Hard[string(name)], q.Used[string(name)] = thousandths(hard), thousandths(used)
	}
	for _, scope := range object.Spec.Scopes {
		q.scopes = append(q.scopes, corev1.ScopedResourceSelectorRequirement{ScopeName: scope, Operator: corev1.ScopeSelectorOpExists})
	}
	if selector := object.Spec.ScopeSelector; selector != nil {
		q.scopes = append(q.scopes, selector.MatchExpressions...)
	}
	return q
}

// Limits are the quotas of all namespaces, by namespace and name.
type Limits map[string]map[string]Quota

// Set stores a ResourceQuota.
func (l Limits) Set(object *corev1.ResourceQuota) {
	if l[object.Namespace] == nil {
		l[object.Namespace] = map[string]Quota{}
	}
	l[object.Namespace][object.Name] = Read(object)
}

// Remove removes a ResourceQuota.
func (l Limits) Remove(namespace, name string) {
	if delete(l[namespace], name); len(l[namespace]) == 0 {
		delete(l, namespace)
	}
}

// In returns the quotas of a namespace, in the order of their names.
func (l Limits) In(namespace string) (quotas []Quota) {
	for _, name := range slices.Sorted(maps.Keys(l[namespace])) {
		quotas = append(quotas, l[namespace][name])
	}
	return quotas
}

// matches reports whether Pods count against the quota. All of its scopes must match.
func (q Quota) matches(pods v1alpha1.QuotaPods) bool {
	return !slices.ContainsFunc(q.scopes, func(scope corev1.ScopedResourceSelectorRequirement) bool { return !inScope(scope, pods) })
}

func inScope(scope corev1.ScopedResourceSelectorRequirement, pods v1alpha1.QuotaPods) bool {
	switch scope.ScopeName {
	case corev1.ResourceQuotaScopeTerminating:
		return pods.Terminating
	case corev1.ResourceQuotaScopeNotTerminating:
		return !pods.Terminating
	case corev1.ResourceQuotaScopeBestEffort:
		return pods.BestEffort
	case corev1.ResourceQuotaScopeNotBestEffort:
		return !pods.BestEffort
	case corev1.ResourceQuotaScopeCrossNamespacePodAffinity:
		return pods.CrossNamespaceAffinity
	case corev1.ResourceQuotaScopePriorityClass:
		return hasClass(scope, pods.PriorityClass)
	default: // of volume claims
		return false
	}
}

func hasClass(scope corev1.ScopedResourceSelectorRequirement, class string) bool {
	switch scope.Operator {
	case corev1.ScopeSelectorOpIn:
		return class != "" && slices.Contains(scope.Values, class)
	case corev1.ScopeSelectorOpNotIn:
		return class == "" || !slices.Contains(scope.Values, class)
	case corev1.ScopeSelectorOpDoesNotExist:
		return class == ""
	default:
		return class != ""
	}
}

// demand returns what Pods of a claim take of the quota. counts are their numbers, in the order of the Pods.
func (q Quota) demand(pods []v1alpha1.QuotaPods, counts []int64) Usage {
	demand := Usage{}
	for i, each := range pods {
		if counts[i] <= 0 || !q.matches(each) {
			continue
		}
		for name := range q.Hard {
			if amount := each.Usage[name]; amount > 0 {
				demand[name] = plus(demand[name], times(amount, counts[i]))
			}
		}
	}
	return demand
}
