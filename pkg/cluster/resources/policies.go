package resources

import (
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
)

// autoscaler returns nil unless minWorkers is below maxWorkers. These two set its range, whatever its template says.
func (b *builder) autoscaler() *autoscalingv2.HorizontalPodAutoscaler {
	if !Autoscaled(b.cluster) {
		return nil
	}
	scaler := &autoscalingv2.HorizontalPodAutoscaler{
		TypeMeta:   metav1.TypeMeta{APIVersion: "autoscaling/v2", Kind: "HorizontalPodAutoscaler"},
		ObjectMeta: b.metadata(nil, AutoscalerName(b.cluster.Name)),
	}
	if given := b.worker.HorizontalPodAutoscalerSpec; given != nil {
		scaler.Spec = *given
	}
	spec, instances := &scaler.Spec, b.cluster.Spec.ClusterTolerations.InstanceConfig
	spec.ScaleTargetRef = autoscalingv2.CrossVersionObjectReference{
		APIVersion: "apps/v1", Kind: "StatefulSet", Name: WorkerName(b.cluster.Name),
	}
	spec.MinReplicas, spec.MaxReplicas = ptr.To(autoscalerMinimum(instances)), instances.MaxWorkers
	if len(spec.Metrics) == 0 {
		spec.Metrics = []autoscalingv2.MetricSpec{busyWorkers()}
	}
	if spec.Behavior == nil {
		spec.Behavior = &autoscalingv2.HorizontalPodAutoscalerBehavior{ScaleUp: oneIn(60), ScaleDown: oneIn(600)}
	}
	return scaler
}

func busyWorkers() autoscalingv2.MetricSpec {
	return autoscalingv2.MetricSpec{
		Type: autoscalingv2.ContainerResourceMetricSourceType,
		ContainerResource: &autoscalingv2.ContainerResourceMetricSource{
			Name: corev1.ResourceCPU, Container: Worker,
			Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: ptr.To[int32](30)},
		},
	}
}

// oneIn allows adding or removing one worker within a number of seconds.
func oneIn(seconds int32) *autoscalingv2.HPAScalingRules {
	return &autoscalingv2.HPAScalingRules{
		Policies: []autoscalingv2.HPAScalingPolicy{{Type: autoscalingv2.PodsScalingPolicy, Value: 1, PeriodSeconds: seconds}},
	}
}

// budget prevents a drain from evicting all workers at once.
func (b *builder) budget() *policyv1.PodDisruptionBudget {
	if b.cluster.Spec.ClusterTolerations.InstanceConfig.MinWorkers < 1 {
		return nil
	}
	return &policyv1.PodDisruptionBudget{
		TypeMeta:   metav1.TypeMeta{APIVersion: "policy/v1", Kind: "PodDisruptionBudget"},
		ObjectMeta: b.metadata(nil, BudgetName(b.cluster.Name)),
		Spec: policyv1.PodDisruptionBudgetSpec{
			MinAvailable: ptr.To(intstr.FromInt32(1)),
			Selector:     &metav1.LabelSelector{MatchLabels: Selector(b.cluster.Name, Worker)},
		},
	}
}

// networkPolicy allows Pods of the cluster, and drivers of applications that run on it, to reach the workers.
func (b *builder) networkPolicy() *networkingv1.NetworkPolicy {
	from := func(labels map[string]string) networkingv1.NetworkPolicyPeer {
		return networkingv1.NetworkPolicyPeer{PodSelector: &metav1.LabelSelector{MatchLabels: labels}}
	}
	policy := &networkingv1.NetworkPolicy{
		TypeMeta:   metav1.TypeMeta{APIVersion: "networking.k8s.io/v1", Kind: "NetworkPolicy"},
		ObjectMeta: b.metadata(nil, WorkerName(b.cluster.Name)),
		Spec: networkingv1.NetworkPolicySpec{
			PodSelector: metav1.LabelSelector{MatchLabels: Selector(b.cluster.Name, Worker)},
			PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress},
			Ingress: []networkingv1.NetworkPolicyIngressRule{{From: []networkingv1.NetworkPolicyPeer{
				from(map[string]string{LabelCluster: b.cluster.Name}),
				from(map[string]string{LabelRole: "driver"}),
			}}},
		},
	}
	if metrics := b.worker.NetworkPolicy; metrics != nil {
		policy.Spec.Ingress = append(policy.Spec.Ingress, networkingv1.NetworkPolicyIngressRule{
			From: metrics.MetricsIngress,
			Ports: []networkingv1.NetworkPolicyPort{{
				Protocol: ptr.To(corev1.ProtocolTCP), Port: ptr.To(intstr.FromInt32(metrics.MetricsPort)),
			}},
		})
	}
	return policy
}
