package sparkcluster

import (
	"context"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
	"k8s.io/utils/lru"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/cluster/resources"
	"github.com/firesteel-dev/firesteel/pkg/kube"
	"github.com/firesteel-dev/firesteel/pkg/kube/objectclient"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base/writecache"
)

const (
	// byCluster is the index of Pods by their cluster's name.
	byCluster = "cluster"
	// byOwner is the index of other objects by the uids of their owners.
	byOwner = "owner"
	// maxUncertain bounds the number of clusters with uncertain objects. If one is forgotten, its objects are taken
	// as the caches have them.
	maxUncertain = 1024
)

// newOwnedObjects watches what belongs to clusters. It calls changed with each changed object and its cluster.
func newOwnedObjects(
	ctx context.Context, client kubernetes.Interface, clock clock.PassiveClock, changed func(types.NamespacedName, object),
) *ownedObjects {
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0,
		informers.WithTransform(strip),
		informers.WithTweakListOptions(func(options *metav1.ListOptions) { options.LabelSelector = resources.LabelCluster }))
	e := &ownedObjects{pending: map[string]*writecache.Cache[object]{}, uncertain: lru.New(maxUncertain), pods: factory.Core().V1().Pods().Informer(), informers: map[string]cache.SharedIndexInformer{
		objectclient.KindOf(&corev1.Service{}):                        factory.Core().V1().Services().Informer(),
		objectclient.KindOf(&appsv1.StatefulSet{}):                    factory.Apps().V1().StatefulSets().Informer(),
		objectclient.KindOf(&networkingv1.NetworkPolicy{}):            factory.Networking().V1().NetworkPolicies().Informer(),
		objectclient.KindOf(&autoscalingv2.HorizontalPodAutoscaler{}): factory.Autoscaling().V2().HorizontalPodAutoscalers().Informer(),
		objectclient.KindOf(&policyv1.PodDisruptionBudget{}):          factory.Policy().V1().PodDisruptionBudgets().Informer(),
	}}
	notify := func(found any) {
		if o, ok := kube.LastKnown(found).(object); ok {
			changed(clusterOf(o), o)
		}
	}
	handler := cache.ResourceEventHandlerFuncs{
		AddFunc: notify,
		DeleteFunc: func(found any) {
			e.reportedDeleted(found)
			notify(found)
		},
		UpdateFunc: func(before, after any) {
			if !concernsCluster(before, after) {
				return
			}
			notify(after)
			if from, to := before.(object), after.(object); clusterOf(from) != clusterOf(to) {
				notify(before)
			}
		},
	}
	for kind, informer := range e.informers {
		e.pending[kind] = writecache.NewExpiring[object](clock, base.EventDelay)
		base.Must(ctx, informer.AddIndexers(cache.Indexers{byOwner: indexByOwner}))
		base.AddHandler(ctx, informer, handler)
	}
	base.Must(ctx, e.pods.AddIndexers(cache.Indexers{byCluster: indexByCluster}))
	base.AddHandler(ctx, e.pods, handler)
	factory.Start(ctx.Done())
	return e
}

// indexByCluster indexes an object by the cluster in its label.
func indexByCluster(found any) ([]string, error) {
	o, ok := found.(metav1.Object)
	if !ok {
		return nil, nil
	}
	return []string{o.GetNamespace() + "/" + o.GetLabels()[resources.LabelCluster]}, nil
}

// indexByOwner indexes an object by its owners, since its labels may be changed.
func indexByOwner(found any) (uids []string, _ error) {
	o, ok := found.(metav1.Object)
	if !ok {
		return nil, nil
	}
	for _, owner := range o.GetOwnerReferences() {
		uids = append(uids, string(owner.UID))
	}
	return uids, nil
}

// clusterOf returns the name of the cluster that owns an object. If none does, it is the name in the label.
func clusterOf(o object) types.NamespacedName {
	name := types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetLabels()[resources.LabelCluster]}
	for _, owner := range o.GetOwnerReferences() {
		kind := schema.FromAPIVersionAndKind(owner.APIVersion, owner.Kind).GroupKind()
		if kind == sparkv1.SchemeGroupVersion.WithKind("SparkCluster").GroupKind() {
			name.Name = owner.Name
		}
	}
	return name
}

// concernsCluster reports whether the change of an object matters to its cluster. The status of an autoscaler does not.
func concernsCluster(before, after any) bool {
	switch after := after.(type) {
	case *autoscalingv2.HorizontalPodAutoscaler, *policyv1.PodDisruptionBudget, *networkingv1.NetworkPolicy, *corev1.Service:
		from, to := before.(object), after.(object)
		return from.GetAnnotations()[resources.HashAnnotation] != to.GetAnnotations()[resources.HashAnnotation] ||
			!maps.Equal(from.GetLabels(), to.GetLabels()) || !slices.EqualFunc(from.GetOwnerReferences(), to.GetOwnerReferences(), sameOwner) || (from.GetDeletionTimestamp() == nil) != (to.GetDeletionTimestamp() == nil)
	default:
		return true
	}
}

// synced reports whether the caches have all objects that existed at the start.
func (e *ownedObjects) synced() bool {
	for _, informer := range e.informers {
		if !informer.HasSynced() {
			return false
		}
	}
	return e.pods.HasSynced()
}

func sameOwner(a, b metav1.OwnerReference) bool { return a.UID == b.UID }

// strip reduces an object to what is read: its metadata, hash and ports and, for StatefulSets and Pods, the status.
func strip(found any) (any, error) {
	o, ok := found.(object)
	if !ok {
		return found, nil
	}
	meta := metav1.ObjectMeta{
		Namespace: o.GetNamespace(), Name: o.GetName(), UID: o.GetUID(), ResourceVersion: o.GetResourceVersion(),
		Finalizers: o.GetFinalizers(), Generation: o.GetGeneration(), CreationTimestamp: o.GetCreationTimestamp(), DeletionTimestamp: o.GetDeletionTimestamp(),
		Labels: o.GetLabels(), OwnerReferences: o.GetOwnerReferences(),
	}
	for _, name := range []string{resources.HashAnnotation, resources.MadeOfAnnotation, resources.TakenOverAnnotation} {
		if value, has := o.GetAnnotations()[name]; has {
			metav1.SetMetaDataAnnotation(&meta, name, value)
		}
	}
	switch o := o.(type) {
	case *corev1.Service:
		spec := corev1.ServiceSpec{ClusterIP: o.Spec.ClusterIP, Ports: o.Spec.Ports}
		return &corev1.Service{ObjectMeta: meta, Spec: spec}, nil
	case *networkingv1.NetworkPolicy:
		return &networkingv1.NetworkPolicy{ObjectMeta: meta}, nil
	case *autoscalingv2.HorizontalPodAutoscaler:
		return &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: meta}, nil
	case *policyv1.PodDisruptionBudget:
		return &policyv1.PodDisruptionBudget{ObjectMeta: meta}, nil
	case *appsv1.StatefulSet:
		spec := appsv1.StatefulSetSpec{Replicas: o.Spec.Replicas, UpdateStrategy: o.Spec.UpdateStrategy}
		for _, container := range o.Spec.Template.Spec.Containers {
			spec.Template.Spec.Containers = append(spec.Template.Spec.Containers, corev1.Container{Ports: container.Ports})
		}
		return &appsv1.StatefulSet{ObjectMeta: meta, Spec: spec, Status: o.Status}, nil
	case *corev1.Pod:
		return &corev1.Pod{ObjectMeta: meta, Status: corev1.PodStatus{
			Phase: o.Status.Phase, Conditions: o.Status.Conditions,
			InitContainerStatuses: o.Status.InitContainerStatuses, ContainerStatuses: o.Status.ContainerStatuses,
		}}, nil
	default:
		return found, nil
	}
}
