package submission

import (
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// networkPolicy adds the policy with which executors accept connections only from pods of their own application. It mirrors
// NetworkPolicyFeatureStep, which Spark has from 4.2 on.
func networkPolicy(d *driver) {
	executors := d.appSelector()
	executors[roleLabel] = "executor"
	application := networkingv1.NetworkPolicyPeer{PodSelector: &metav1.LabelSelector{MatchLabels: d.appSelector()}}
	d.owned = append(d.owned, &networkingv1.NetworkPolicy{
		TypeMeta:   metav1.TypeMeta{APIVersion: "networking.k8s.io/v1", Kind: "NetworkPolicy"},
		ObjectMeta: d.meta(d.plan.Names.Prefix+"-policy", d.appSelector()),
		Spec: networkingv1.NetworkPolicySpec{
			PodSelector: metav1.LabelSelector{MatchLabels: executors},
			Ingress:     []networkingv1.NetworkPolicyIngressRule{{From: []networkingv1.NetworkPolicyPeer{application}}},
			PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress},
		},
	})
}
