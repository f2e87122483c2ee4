package sparkcluster

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/firesteel-dev/firesteel/pkg/kube/apierror"
)

// kindOf names the kind of an object.
func kindOf(o any) string {
	switch o.(type) {
	case *corev1.Service:
		return "Service"
	case *appsv1.StatefulSet:
		return "StatefulSet"
	case *networkingv1.NetworkPolicy:
		return "NetworkPolicy"
	case *autoscalingv2.HorizontalPodAutoscaler:
		return "HorizontalPodAutoscaler"
	case *policyv1.PodDisruptionBudget:
		return "PodDisruptionBudget"
	default:
		return fmt.Sprintf("%T", o)
	}
}

// verbs are what is done with one object of whatever kind.
type verbs struct {
	create func(ctx context.Context) (object, error)
	get    func(ctx context.Context) (object, error)
	update func(ctx context.Context, merged object) (object, error)
	remove func(ctx context.Context, options metav1.DeleteOptions) error
}

// client is the part of a typed client that clusters need.
type client[T object] interface {
	Create(ctx context.Context, o T, options metav1.CreateOptions) (T, error)
	Get(ctx context.Context, name string, options metav1.GetOptions) (T, error)
	Update(ctx context.Context, o T, options metav1.UpdateOptions) (T, error)
	Delete(ctx context.Context, name string, options metav1.DeleteOptions) error
}

func verbsOf[T object](client client[T], o T) verbs {
	return verbs{
		create: func(ctx context.Context) (object, error) {
			if err := apierror.Oversized(kindOf(o), o); err != nil {
				return nil, err
			}
			return client.Create(ctx, o, metav1.CreateOptions{})
		},
		get: func(ctx context.Context) (object, error) { return client.Get(ctx, o.GetName(), metav1.GetOptions{}) },
		update: func(ctx context.Context, merged object) (object, error) {
			if err := apierror.Oversized(kindOf(merged), merged); err != nil {
				return nil, err
			}
			return client.Update(ctx, merged.(T), metav1.UpdateOptions{})
		},
		remove: func(ctx context.Context, options metav1.DeleteOptions) error {
			return client.Delete(ctx, o.GetName(), options)
		},
	}
}

func verbsFor(kube kubernetes.Interface, o object) (verbs, error) {
	namespace := o.GetNamespace()
	switch o := o.(type) {
	case *corev1.Service:
		return verbsOf(kube.CoreV1().Services(namespace), o), nil
	case *appsv1.StatefulSet:
		return verbsOf(kube.AppsV1().StatefulSets(namespace), o), nil
	case *networkingv1.NetworkPolicy:
		return verbsOf(kube.NetworkingV1().NetworkPolicies(namespace), o), nil
	case *autoscalingv2.HorizontalPodAutoscaler:
		return verbsOf(kube.AutoscalingV2().HorizontalPodAutoscalers(namespace), o), nil
	case *policyv1.PodDisruptionBudget:
		return verbsOf(kube.PolicyV1().PodDisruptionBudgets(namespace), o), nil
	default:
		return verbs{}, fmt.Errorf("no client for %T", o)
	}
}

// emptyObject returns an object with only a name and a namespace.
func emptyObject(at objectKey) object {
	meta := metav1.ObjectMeta{Namespace: at.namespace, Name: at.name}
	for _, empty := range []object{
		&corev1.Service{ObjectMeta: meta}, &appsv1.StatefulSet{ObjectMeta: meta}, &networkingv1.NetworkPolicy{ObjectMeta: meta},
		&autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: meta}, &policyv1.PodDisruptionBudget{ObjectMeta: meta},
	} {
		if kindOf(empty) == at.kind {
			return empty
		}
	}
	return nil
}
