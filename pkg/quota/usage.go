package quota

import (
	"maps"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	resourcehelper "k8s.io/component-helpers/resource"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// Usage is what Pods take of a quota, by the names that a quota uses, in thousandths.
type Usage map[string]int64

// countPods is the resource that counts all Pods, also those that have ended.
const countPods = "count/pods"

const (
	// maxNames bounds the resources of a claim, and maxName the bytes of a name: a Pod may name any number of extended resources. Further ones are
	// not compared.
	maxNames = 16
	maxName  = 128
	// maxClass bounds the name of a priority class, as the API server does.
	maxClass = 253
	// maxAmount bounds an amount. It is over 2 PiB, so a quota with more has no limit. Four of them can be added without an overflow.
	maxAmount = math.MaxInt64 / 4
)

// MaxPods bounds the kinds of Pods in a claim: the driver, and its executors. The claim in a record may have more if another writer edited it.
const MaxPods = 2

// PlannedExecutors returns the Pod and the number of the executors of a plan.
func PlannedExecutors(plan submission.Plan) (executor *corev1.Pod, count int64) {
	executor, count, err := submission.PlannedExecutorPod(plan)
	if err != nil { // the driver will not be able to create executors
		return &corev1.Pod{}, 0
	}
	return executor, count
}

// Claim returns what a driver Pod and a number of equal executors take of quotas.
func Claim(driver *corev1.Pod, executor *corev1.Pod, executors int64) []v1alpha1.QuotaPods {
	pods := []v1alpha1.QuotaPods{podsOf(driver, 1)}
	if executors > 0 {
		pods = append(pods, podsOf(executor, executors))
	}
	return pods
}

func podsOf(pod *corev1.Pod, count int64) v1alpha1.QuotaPods {
	class := pod.Spec.PriorityClassName
	if len(class) > maxClass {
		class = "" // there is none with such a name: the API server will refuse the Pod
	}
	return v1alpha1.QuotaPods{
		Count: count, Usage: usageOf(pod), PriorityClass: class, BestEffort: isBestEffort(pod),
		Terminating: pod.Spec.ActiveDeadlineSeconds != nil, CrossNamespaceAffinity: namesOtherNamespaces(pod.Spec.Affinity),
	}
}

// usageOf returns what a Pod takes while it runs. It mirrors the evaluator of Pods in Kubernetes' quota admission.
func usageOf(pod *corev1.Pod) Usage {
	pod = withDefaultRequests(pod)
	usage := Usage{string(corev1.ResourcePods): 1000, countPods: 1000}
	for name, quantity := range resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{}) {
		amount := thousandths(quantity)
		usage[corev1.DefaultResourceRequestsPrefix+string(name)] = amount
		if isNative(name) {
			usage[string(name)] = amount
		}
	}
	for name, quantity := range resourcehelper.PodLimits(pod, resourcehelper.PodResourcesOptions{}) {
		if isNative(name) && !strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix) {
			usage["limits."+string(name)] = thousandths(quantity)
		}
	}
	return bounded(usage)
}

// bounded removes names that are too long. Of too many names, it keeps the first: Kubernetes' own resources come before extended ones.
func bounded(usage Usage) Usage {
	maps.DeleteFunc(usage, func(name string, _ int64) bool { return len(name) > maxName })
	if len(usage) <= maxNames {
		return usage
	}
	names := slices.SortedFunc(maps.Keys(usage), func(a, b string) int {
		if extended := strings.Contains(a, "/") && a != countPods; extended != (strings.Contains(b, "/") && b != countPods) {
			return map[bool]int{true: 1, false: -1}[extended]
		}
		return strings.Compare(a, b)
	})
	for _, name := range names[maxNames:] {
		delete(usage, name)
	}
	return usage
}

// isNative reports whether a resource is one of Kubernetes' own. A quota can name those without a prefix, too.
func isNative(name corev1.ResourceName) bool {
	switch name {
	case corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage:
		return true
	default:
		return strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
	}
}

// withDefaultRequests returns a Pod whose containers request their limits, unless they have requests. The API server sets this default before it
// checks the quotas.
func withDefaultRequests(pod *corev1.Pod) *corev1.Pod {
	spec := pod.Spec
	spec.Containers, spec.InitContainers = slices.Clone(spec.Containers), slices.Clone(spec.InitContainers)
	for _, containers := range [][]corev1.Container{spec.Containers, spec.InitContainers} {
		for i := range containers {
			resources := &containers[i].Resources
			requests := maps.Clone(resources.Limits)
			if requests == nil {
				requests = corev1.ResourceList{}
			}
			maps.Copy(requests, resources.Requests)
			resources.Requests = requests
		}
	}
	return &corev1.Pod{Spec: spec}
}

// isBestEffort reports whether no container of a Pod requests CPU or memory, or limits one.
func isBestEffort(pod *corev1.Pod) bool {
	for _, container := range slices.Concat(pod.Spec.Containers, pod.Spec.InitContainers) {
		for _, list := range []corev1.ResourceList{container.Resources.Requests, container.Resources.Limits} {
			if !list.Cpu().IsZero() || !list.Memory().IsZero() {
				return false
			}
		}
	}
	return true
}

// namesOtherNamespaces reports whether an affinity names Pods of other namespaces.
func namesOtherNamespaces(affinity *corev1.Affinity) bool {
	if affinity == nil {
		return false
	}
	var terms []corev1.PodAffinityTerm
	add := func(required []corev1.PodAffinityTerm, preferred []corev1.WeightedPodAffinityTerm) {
		terms = append(terms, required...)
		for _, term := range preferred {
			terms = append(terms, term.PodAffinityTerm)
		}
	}
	if near := affinity.PodAffinity; near != nil {
		add(near.RequiredDuringSchedulingIgnoredDuringExecution, near.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if far := affinity.PodAntiAffinity; far != nil {
		add(far.RequiredDuringSchedulingIgnoredDuringExecution, far.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	return slices.ContainsFunc(terms, func(term corev1.PodAffinityTerm) bool {
		return len(term.Namespaces) > 0 || term.NamespaceSelector != nil
	})
}

// thousandths returns a quantity as a bounded number.
func thousandths(quantity resource.Quantity) int64 {
	switch {
	case quantity.CmpInt64(0) <= 0:
		return 0
	case quantity.CmpInt64(maxAmount/1000) >= 0:
		return maxAmount
	default:
		return quantity.MilliValue()
	}
}

// plus adds bounded amounts.
func plus(a, b int64) int64 { return min(clamp(a)+clamp(b), maxAmount) }

// times multiplies a bounded amount.
func times(amount, count int64) int64 {
	amount, count = clamp(amount), max(count, 0)
	if amount > 0 && count > maxAmount/amount {
		return maxAmount
	}
	return amount * count
}

// clamp bounds an amount of a record, which another writer may have edited.
func clamp(amount int64) int64 { return min(max(amount, 0), maxAmount) }
