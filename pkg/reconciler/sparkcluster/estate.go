package sparkcluster

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

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
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base/writecache"
)

// estate is what there is of clusters, as the caches have it, and what Firesteel itself did that they do not have yet.
type estate struct {
	clock clock.PassiveClock
	// objects are the informers of what clusters own, by the type.
	objects map[string]cache.SharedIndexInformer
	pods    cache.SharedIndexInformer

	mutex sync.Mutex
	own   map[place]deed
	// doubts are, by the uids of clusters, the objects of each that may be there although no cache has them.
	doubts *lru.Cache
}

// object is one that a cluster owns.
type object = resources.Object

// place is where an object is.
type place struct{ kind, namespace, name string }

// deed is what Firesteel did to an object: what it wrote, or, where that is nil, that it deleted the one with the uid.
type deed struct {
	written object
	deleted types.UID
	at      time.Time
}

// seenWithin is how long the event of what Firesteel itself did may take to arrive.
const seenWithin = 10 * time.Second

// remembered is the number of deeds from which on it is looked which of them are too old to matter.
const remembered = 1024

const (
	// byCluster is the index of Pods by their cluster's name.
	byCluster = "cluster"
	// byOwner is the index of other objects by the uids of their owners.
	byOwner = "owner"
	// doubtful bounds the number of clusters with objects in doubt. What is forgotten is taken as the caches have it.
	doubtful = 1024
)

// newEstate watches what belongs to clusters. changed is told of whatever changes, and of its cluster.
func newEstate(
	ctx context.Context, kube kubernetes.Interface, clock clock.PassiveClock, changed func(types.NamespacedName, object),
) *estate {
	factory := informers.NewSharedInformerFactoryWithOptions(kube, 0,
		informers.WithTransform(strip),
		informers.WithTweakListOptions(func(options *metav1.ListOptions) { options.LabelSelector = resources.LabelCluster }))
	e := &estate{clock: clock, own: map[place]deed{}, doubts: lru.New(doubtful), pods: factory.Core().V1().Pods().Informer(), objects: map[string]cache.SharedIndexInformer{
		kindOf(&corev1.Service{}):                        factory.Core().V1().Services().Informer(),
		kindOf(&appsv1.StatefulSet{}):                    factory.Apps().V1().StatefulSets().Informer(),
		kindOf(&networkingv1.NetworkPolicy{}):            factory.Networking().V1().NetworkPolicies().Informer(),
		kindOf(&autoscalingv2.HorizontalPodAutoscaler{}): factory.Autoscaling().V2().HorizontalPodAutoscalers().Informer(),
		kindOf(&policyv1.PodDisruptionBudget{}):          factory.Policy().V1().PodDisruptionBudgets().Informer(),
	}}
	tell := func(found any) {
		if o, is := base.LastKnown(found).(object); is {
			changed(clusterOf(o), o)
		}
	}
	handler := cache.ResourceEventHandlerFuncs{
		AddFunc: tell,
		DeleteFunc: func(found any) {
			e.gone(found)
			tell(found)
		},
		UpdateFunc: func(before, after any) {
			if !worthLooking(before, after) {
				return
			}
			tell(after)
			if was, is := before.(object), after.(object); clusterOf(was) != clusterOf(is) {
				tell(before)
			}
		},
	}
	for _, informer := range e.objects {
		base.Must(ctx, informer.AddIndexers(cache.Indexers{byOwner: indexOwners}))
		base.AddHandler(ctx, informer, handler)
	}
	base.Must(ctx, e.pods.AddIndexers(cache.Indexers{byCluster: indexCluster}))
	base.AddHandler(ctx, e.pods, handler)
	factory.Start(ctx.Done())
	return e
}

// indexCluster indexes an object by the cluster that its label names.
func indexCluster(found any) ([]string, error) {
	o, is := found.(metav1.Object)
	if !is {
		return nil, nil
	}
	return []string{o.GetNamespace() + "/" + o.GetLabels()[resources.LabelCluster]}, nil
}

// indexOwners indexes an object by its owners: its labels may be changed.
func indexOwners(found any) (uids []string, _ error) {
	o, is := found.(metav1.Object)
	if !is {
		return nil, nil
	}
	for _, owner := range o.GetOwnerReferences() {
		uids = append(uids, string(owner.UID))
	}
	return uids, nil
}

// clusterOf names the cluster that owns an object or, if none does, that its label names.
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

// worthLooking leaves out what says nothing of a cluster, such as the status of an autoscaler.
func worthLooking(before, after any) bool {
	switch after := after.(type) {
	case *autoscalingv2.HorizontalPodAutoscaler, *policyv1.PodDisruptionBudget, *networkingv1.NetworkPolicy, *corev1.Service:
		was, is := before.(object), after.(object)
		return was.GetAnnotations()[resources.HashAnnotation] != is.GetAnnotations()[resources.HashAnnotation] ||
			!maps.Equal(was.GetLabels(), is.GetLabels()) || !slices.EqualFunc(was.GetOwnerReferences(), is.GetOwnerReferences(), sameOwner) || (was.GetDeletionTimestamp() == nil) != (is.GetDeletionTimestamp() == nil)
	default:
		return true
	}
}

// synced says that all that there was at the start is known.
func (e *estate) synced() bool {
	for _, informer := range e.objects {
		if !informer.HasSynced() {
			return false
		}
	}
	return e.pods.HasSynced()
}

func placeOf(o object) place {
	return place{kind: kindOf(o), namespace: o.GetNamespace(), name: o.GetName()}
}

// wrote notes an object as Firesteel wrote it.
func (e *estate) wrote(o object) {
	at := placeOf(o)
	if stripped, err := strip(o); err == nil {
		o = stripped.(object)
	}
	e.note(at, deed{written: o})
}

// deleted notes that the deletion of an object was accepted.
func (e *estate) deleted(o object) { e.note(placeOf(o), deed{deleted: o.GetUID()}) }

// gone forgets that Firesteel wrote an object that a watch reported as deleted. The watch is filtered by a label, so it
// reports that also when the label is removed. Only an object that Firesteel itself deleted is gone for certain, unless a
// finalizer held it; of any other the cluster's next reconcile finds out.
func (e *estate) gone(found any) {
	o, is := base.LastKnown(found).(object)
	if !is {
		return
	}
	at := placeOf(o)
	e.mutex.Lock()
	defer e.mutex.Unlock()
	done := e.own[at]
	if done.written != nil && done.written.GetUID() == o.GetUID() {
		delete(e.own, at)
	}
	if _, isPod := o.(*corev1.Pod); isPod || done.deleted == o.GetUID() && len(o.GetFinalizers()) == 0 {
		return
	}
	for _, owner := range o.GetOwnerReferences() {
		e.doubtLocked(owner.UID, at, o)
	}
}

// doubt has it found out whether an object of a cluster is there. last is its last known state, nil if there is none.
func (e *estate) doubt(cluster types.UID, at place) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	e.doubtLocked(cluster, at, nil)
}

func (e *estate) doubtLocked(cluster types.UID, at place, last object) {
	known, _ := e.doubts.Get(cluster)
	doubts, _ := known.(map[place]object)
	if doubts == nil {
		doubts = map[place]object{}
		e.doubts.Add(cluster, doubts)
	}
	doubts[at] = last
}

// settle finds out which objects of a cluster are there although no cache has them, by one live read of each that is in
// doubt. read returns nil for one that is not there.
func (e *estate) settle(cluster types.UID, read func(place) (object, error)) error {
	for _, at := range e.inDoubt(cluster) {
		if e.cached(at) != nil {
			e.certain(cluster, at)
			continue
		}
		live, err := read(at)
		switch {
		case err != nil:
			return err
		case live == nil || !owns(cluster, live):
			e.certain(cluster, at)
		default:
			stripped, err := strip(live)
			if err != nil {
				return err
			}
			e.mutex.Lock()
			e.doubtLocked(cluster, at, stripped.(object))
			e.mutex.Unlock()
		}
	}
	return nil
}

func (e *estate) inDoubt(cluster types.UID) []place {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	known, _ := e.doubts.Get(cluster)
	doubts, _ := known.(map[place]object)
	return slices.Collect(maps.Keys(doubts))
}

// certain ends the doubt about an object.
func (e *estate) certain(cluster types.UID, at place) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	known, _ := e.doubts.Get(cluster)
	doubts, _ := known.(map[place]object)
	if delete(doubts, at); len(doubts) == 0 {
		e.doubts.Remove(cluster)
	}
}

// forget ends the doubts about the objects of a cluster.
func (e *estate) forget(cluster types.UID) { e.doubts.Remove(cluster) }

func (e *estate) note(at place, done deed) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	done.at = e.clock.Now()
	if len(e.own) >= remembered {
		maps.DeleteFunc(e.own, func(_ place, done deed) bool { return e.clock.Since(done.at) > seenWithin })
	}
	e.own[at] = done
}

// cached returns an object as a cache has it, nil if none has.
func (e *estate) cached(at place) object {
	found, known, err := e.objects[at.kind].GetStore().GetByKey(at.namespace + "/" + at.name)
	if err != nil || !known {
		return nil
	}
	return found.(object)
}

// get returns an object of a cluster, or what has its name, as it is known; nil if there is none.
func (e *estate) get(cluster types.UID, at place) object {
	known := e.cached(at)
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if doubts, ok := e.doubts.Get(cluster); ok && known == nil {
		known = doubts.(map[place]object)[at]
	}
	done, did := e.own[at]
	switch {
	case !did:
		return known
	case e.clock.Since(done.at) > seenWithin:
		delete(e.own, at)
		return known
	case done.written == nil && (known == nil || known.GetUID() == done.deleted):
		return nil
	case done.written == nil, known != nil && !writecache.Newer(done.written.GetResourceVersion(), known.GetResourceVersion()):
		delete(e.own, at)
		return known
	default:
		return done.written
	}
}

// of are the objects that a cluster owns.
func (e *estate) of(cluster types.UID) []object {
	places := map[place]bool{}
	for kind, informer := range e.objects {
		found, err := informer.GetIndexer().ByIndex(byOwner, string(cluster))
		if err != nil {
			continue // there is such an index
		}
		for _, o := range found {
			places[place{kind: kind, namespace: o.(object).GetNamespace(), name: o.(object).GetName()}] = true
		}
	}
	for _, at := range e.inDoubt(cluster) {
		places[at] = true
	}
	e.mutex.Lock()
	for at, done := range e.own {
		if done.written != nil && owns(cluster, done.written) {
			places[at] = true
		}
	}
	e.mutex.Unlock()
	var owned []object
	for at := range places {
		if o := e.get(cluster, at); o != nil && owns(cluster, o) {
			owned = append(owned, o)
		}
	}
	return owned
}

// podsOf are the Pods of a cluster.
func (e *estate) podsOf(namespace, cluster string) []*corev1.Pod {
	found, err := e.pods.GetIndexer().ByIndex(byCluster, namespace+"/"+cluster)
	if err != nil {
		return nil
	}
	pods := make([]*corev1.Pod, 0, len(found))
	for _, pod := range found {
		pods = append(pods, pod.(*corev1.Pod))
	}
	return pods
}

func sameOwner(a, b metav1.OwnerReference) bool { return a.UID == b.UID }

func owns(uid types.UID, o metav1.Object) bool {
	for _, owner := range o.GetOwnerReferences() {
		if owner.UID == uid {
			return true
		}
	}
	return false
}

// strip keeps what is read of an object: its identity, its hash, its ports, and of what runs its status.
func strip(found any) (any, error) {
	o, is := found.(object)
	if !is {
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
