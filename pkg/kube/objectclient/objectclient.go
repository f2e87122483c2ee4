// Package objectclient has one client for each object that Firesteel creates, whatever its kind. It is apart from its parent, since it
// needs the clients and types of all of Kubernetes, which the handlers' processes have no memory for.
package objectclient

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/firesteel-dev/firesteel/pkg/kube/apierror"
)

// Object is an object of any kind that Firesteel creates.
type Object interface {
	metav1.Object
	runtime.Object
}

// Client creates, reads, updates and deletes one object.
type Client interface {
	// Create creates the object. The API server is not asked if it would refuse the object for its size.
	Create(ctx context.Context) (Object, error)
	// Get reads the object that has the name, of any owner.
	Get(ctx context.Context) (Object, error)
	// Update writes another version of the object. It must be of the same Go type.
	Update(ctx context.Context, changed Object) (Object, error)
	// Delete deletes the object that has the name.
	Delete(ctx context.Context, options metav1.DeleteOptions) error
}

// For returns the client of an object. Only an unstructured object needs the dynamic client.
func For(kube kubernetes.Interface, dynamic dynamic.Interface, object Object) (Client, error) {
	namespace := object.GetNamespace()
	switch object := object.(type) {
	case *corev1.Pod:
		return typed[*corev1.Pod]{kube.CoreV1().Pods(namespace), object}, nil
	case *corev1.Service:
		return typed[*corev1.Service]{kube.CoreV1().Services(namespace), object}, nil
	case *corev1.ConfigMap:
		return typed[*corev1.ConfigMap]{kube.CoreV1().ConfigMaps(namespace), object}, nil
	case *corev1.Secret:
		return typed[*corev1.Secret]{kube.CoreV1().Secrets(namespace), object}, nil
	case *corev1.PersistentVolumeClaim:
		return typed[*corev1.PersistentVolumeClaim]{kube.CoreV1().PersistentVolumeClaims(namespace), object}, nil
	case *appsv1.StatefulSet:
		return typed[*appsv1.StatefulSet]{kube.AppsV1().StatefulSets(namespace), object}, nil
	case *autoscalingv2.HorizontalPodAutoscaler:
		return typed[*autoscalingv2.HorizontalPodAutoscaler]{kube.AutoscalingV2().HorizontalPodAutoscalers(namespace), object}, nil
	case *networkingv1.Ingress:
		return typed[*networkingv1.Ingress]{kube.NetworkingV1().Ingresses(namespace), object}, nil
	case *networkingv1.NetworkPolicy:
		return typed[*networkingv1.NetworkPolicy]{kube.NetworkingV1().NetworkPolicies(namespace), object}, nil
	case *policyv1.PodDisruptionBudget:
		return typed[*policyv1.PodDisruptionBudget]{kube.PolicyV1().PodDisruptionBudgets(namespace), object}, nil
	case *unstructured.Unstructured:
		resource, _ := meta.UnsafeGuessKindToResource(object.GroupVersionKind())
		return typed[*unstructured.Unstructured]{untyped{dynamic.Resource(resource).Namespace(namespace)}, object}, nil
	default:
		return nil, fmt.Errorf("no client for %T", object)
	}
}

// KindOf returns the kind of an object, also if its type metadata is empty, as in the answers of typed clients.
func KindOf(object runtime.Object) string {
	kinds, _, err := scheme.Scheme.ObjectKinds(object)
	if err != nil || len(kinds) == 0 { // of a kind that Kubernetes does not have
		return object.GetObjectKind().GroupVersionKind().Kind
	}
	return kinds[0].Kind
}

// generated is the part of a generated client that typed calls.
type generated[T Object] interface {
	Create(ctx context.Context, object T, options metav1.CreateOptions) (T, error)
	Get(ctx context.Context, name string, options metav1.GetOptions) (T, error)
	Update(ctx context.Context, object T, options metav1.UpdateOptions) (T, error)
	Delete(ctx context.Context, name string, options metav1.DeleteOptions) error
}

// typed is the client of one object of a type.
type typed[T Object] struct {
	client generated[T]
	object T
}

func (c typed[T]) Create(ctx context.Context) (Object, error) {
	if err := apierror.Oversized(KindOf(c.object), c.object); err != nil {
		return nil, err
	}
	return c.client.Create(ctx, c.object, metav1.CreateOptions{})
}

func (c typed[T]) Get(ctx context.Context) (Object, error) {
	return c.client.Get(ctx, c.object.GetName(), metav1.GetOptions{})
}

func (c typed[T]) Update(ctx context.Context, changed Object) (Object, error) {
	if err := apierror.Oversized(KindOf(changed), changed); err != nil {
		return nil, err
	}
	return c.client.Update(ctx, changed.(T), metav1.UpdateOptions{})
}

func (c typed[T]) Delete(ctx context.Context, options metav1.DeleteOptions) error {
	return c.client.Delete(ctx, c.object.GetName(), options)
}

// untyped is a dynamic client with the methods of a generated one.
type untyped struct{ client dynamic.ResourceInterface }

func (u untyped) Create(
	ctx context.Context, object *unstructured.Unstructured, options metav1.CreateOptions,
) (*unstructured.Unstructured, error) {
	return u.client.Create(ctx, object, options)
}

func (u untyped) Get(ctx context.Context, name string, options metav1.GetOptions) (*unstructured.Unstructured, error) {
	return u.client.Get(ctx, name, options)
}

func (u untyped) Update(
	ctx context.Context, object *unstructured.Unstructured, options metav1.UpdateOptions,
) (*unstructured.Unstructured, error) {
	return u.client.Update(ctx, object, options)
}

func (u untyped) Delete(ctx context.Context, name string, options metav1.DeleteOptions) error {
	return u.client.Delete(ctx, name, options)
}
