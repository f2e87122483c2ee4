package drivers

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/firesteel-dev/firesteel/internal/intern"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/usage"
)

// Pod holds the part of a driver Pod that the cache stores and the lifecycle reads: its identity, its status, its requests
// and the exception that it ended with. A corev1.Pod with the same content takes twice the memory.
type Pod struct {
	// ObjectMeta has no labels.
	metav1.ObjectMeta
	labels []label
	// node is the name of its node.
	node   string
	status corev1.PodStatus
	// requests is what the Pod requests.
	requests usage.Requests
}

type label struct{ key, value string }

// Label returns the value of a stored label, and whether the Pod has it.
func (p *Pod) Label(key string) (string, bool) {
	for _, label := range p.labels {
		if label.key == key {
			return label.value, true
		}
	}
	return "", false
}

// AsPod returns the driver as a corev1.Pod with the stored parts.
func (p *Pod) AsPod() *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: p.ObjectMeta, Spec: corev1.PodSpec{NodeName: p.node, Resources: p.requests.As()}, Status: p.status}
	if len(p.labels) > 0 {
		pod.Labels = make(map[string]string, len(p.labels))
	}
	for _, label := range p.labels {
		pod.Labels[label.key] = label.value
	}
	return pod
}

// Strip returns the transform of the informer for the driver Pods of an API. It turns a corev1.Pod into a Pod.
func Strip(api *dialect.API) cache.TransformFunc {
	own, common := api.DriverLabelKeys()
	return func(object any) (any, error) {
		pod, ok := object.(*corev1.Pod)
		if !ok {
			return object, nil
		}
		kept := &Pod{ObjectMeta: pod.ObjectMeta, node: intern.Text(pod.Spec.NodeName), status: pod.Status, requests: usage.RequestsOf(pod)}
		kept.ManagedFields, kept.Annotations, kept.Labels = nil, nil, nil
		if trace := pod.Annotations[lifecycle.ExitExceptionAnnotation]; trace != "" {
			kept.Annotations = map[string]string{lifecycle.ExitExceptionAnnotation: clipTrace(trace)}
		}
		if archived := pod.Annotations[lifecycle.ArchivedAnnotation]; archived != "" && len(archived) <= maxArchived {
			if kept.Annotations == nil {
				kept.Annotations = map[string]string{}
			}
			kept.Annotations[lifecycle.ArchivedAnnotation] = archived
		}
		for _, key := range own {
			if value, labelled := pod.Labels[key]; labelled {
				kept.labels = append(kept.labels, label{key, value})
			}
		}
		for _, key := range common {
			if value, labelled := pod.Labels[key]; labelled {
				kept.labels = append(kept.labels, label{key, intern.Text(value)})
			}
		}
		kept.compact()
		return kept, nil
	}
}

// compact shares the strings that many Pods have in common.
func (p *Pod) compact() {
	p.Namespace = intern.Text(p.Namespace)
	for i := range p.OwnerReferences {
		owner := &p.OwnerReferences[i]
		owner.APIVersion, owner.Kind = intern.Text(owner.APIVersion), intern.Text(owner.Kind)
	}
	for i := range p.status.Conditions {
		c := &p.status.Conditions[i]
		c.Type = corev1.PodConditionType(intern.Text(string(c.Type)))
		c.Status = corev1.ConditionStatus(intern.Text(string(c.Status)))
		c.Reason, c.Message = intern.Text(c.Reason), intern.Text(c.Message)
	}
	for i := range p.status.ContainerStatuses {
		s := &p.status.ContainerStatuses[i]
		s.Name, s.Image, s.ImageID = intern.Text(s.Name), intern.Text(s.Image), intern.Text(s.ImageID)
	}
	p.status.Phase = corev1.PodPhase(intern.Text(string(p.status.Phase)))
	p.status.QOSClass = corev1.PodQOSClass(intern.Text(string(p.status.QOSClass)))
	p.status.HostIP = intern.Text(p.status.HostIP)
}

// maxArchived bounds the annotation of an archived attempt.
const maxArchived = 64

// maxTrace is the number of bytes of a stack trace that are stored. Spark writes up to 64 KiB. One half is the beginning,
// the other half is the end, which has the cause.
const maxTrace = 16 << 10

func clipTrace(trace string) string {
	if len(trace) <= maxTrace {
		return trace
	}
	return trace[:maxTrace/2] + "\n\tat ...\n" + trace[len(trace)-maxTrace/2:]
}

// Cache reads driver Pods from the cache of the informer.
type Cache struct{ cache.Indexer }

const (
	// byOwner is the index of driver Pods by the UID of the application that owns them.
	byOwner = "owner"
	// byUserLabel is the index of driver Pods by their namespace and the label that users give the drivers which they start.
	byUserLabel = "userLabel"
)

// Indexers returns the indexes that a Cache of an API's driver Pods needs.
func Indexers(api *dialect.API) cache.Indexers {
	return cache.Indexers{byOwner: indexOwner, byUserLabel: func(object any) ([]string, error) {
		pod, ok := object.(*Pod)
		if !ok {
			return nil, nil
		}
		if key, labelled := pod.UserKey(api); labelled {
			return []string{key}, nil
		}
		return nil, nil
	}}
}

// UserKey returns the key by which the application of a driver Pod is found if its user started the Pod. It returns false if a launch
// created the Pod, or if the API has no such drivers.
func (p *Pod) UserKey(api *dialect.API) (string, bool) {
	if _, launched := p.Label(dialect.LabelLaunch); launched || api.UserDriverLabel == "" {
		return "", false
	}
	id, labelled := p.Label(api.UserDriverLabel)
	return UserKey(p.Namespace, id), labelled
}

// UserKey returns the key of an application in a namespace whose user starts its drivers with a value of the label.
func UserKey(namespace, id string) string { return cache.NewObjectName(namespace, id).String() }

func indexOwner(object any) ([]string, error) {
	pod, ok := object.(*Pod)
	if !ok || metav1.GetControllerOfNoCopy(pod) == nil {
		return nil, nil
	}
	return []string{string(metav1.GetControllerOfNoCopy(pod).UID)}, nil
}

// Get returns the driver Pod with a name. It returns nil if the cache has none.
func (d Cache) Get(namespace, name string) *corev1.Pod {
	found, known, err := d.GetByKey(cache.NewObjectName(namespace, name).String())
	if err != nil || !known {
		return nil
	}
	return found.(*Pod).AsPod()
}

// OwnedBy returns the driver Pods that an application owns.
func (d Cache) OwnedBy(app types.UID) []*corev1.Pod { return d.by(byOwner, string(app)) }

// OfUser returns the driver Pods that a user may have started for an application: the oldest first, so that all replicas have the same
// order.
func (d Cache) OfUser(api *dialect.API, app dialect.Application) []*corev1.Pod {
	pods := slices.DeleteFunc(d.by(byUserLabel, UserKey(app.GetNamespace(), api.UserDriverID(app))), func(pod *corev1.Pod) bool {
		return !api.IsOfUser(app, pod)
	})
	slices.SortFunc(pods, func(a, b *corev1.Pod) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	return pods
}

func (d Cache) by(index, value string) (pods []*corev1.Pod) {
	found, err := d.ByIndex(index, value)
	if err != nil {
		return nil // the index exists
	}
	for _, object := range found {
		pods = append(pods, object.(*Pod).AsPod())
	}
	return pods
}
