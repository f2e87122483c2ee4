package quota

import (
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

// Read reads a ResourceQuota. What its status does not have yet is as its spec says, and unused.
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

// matches reports whether Pods count against the quota: all of its scopes have to match.
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

// demand returns what numbers of a claim's Pods take of the quota. counts are in the order of the Pods.
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
