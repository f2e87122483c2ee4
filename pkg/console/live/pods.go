package live

import (
	"cmp"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/internal/intern"
	"github.com/firesteel-dev/firesteel/internal/text"
	"github.com/firesteel-dev/firesteel/pkg/applications"
	"github.com/firesteel-dev/firesteel/pkg/cluster/resources"
	"github.com/firesteel-dev/firesteel/pkg/redact"
	"github.com/firesteel-dev/firesteel/pkg/submission"
	"github.com/firesteel-dev/firesteel/pkg/usage"
)

// The roles of Pods, the values of the label spark-role.
const (
	roleDriver   = "driver"
	roleExecutor = "executor"
	roleMaster   = resources.Master
	roleWorker   = resources.Worker
)

// podKey is a label with which Pods of a namespace name their application or cluster.
type podKey struct{ namespace, label, value string }

// ownerLabels are the labels with which Pods name their application or cluster.
var ownerLabels = func() (names []string) {
	for _, api := range applications.APIs() {
		names = append(names, api.LabelApplication)
		if api.UserDriverLabel != "" {
			names = append(names, api.UserDriverLabel)
		}
	}
	return append(names, resources.LabelCluster)
}()

// podLabels are the labels of Pods that are kept.
var podLabels = append([]string{resources.LabelRole, submission.LabelApplicationID, submission.LabelExecutorID}, ownerLabels...)

// pod is what is kept of a Pod. It is never changed.
type pod struct {
	// ObjectMeta has only what an informer needs.
	metav1.ObjectMeta
	keys []podKey
	// role and number are those of its labels, and application is the ID of its Spark application.
	role, number, application string
	phase                     corev1.PodPhase
	ready                     bool
	requests                  Resources
	created, started, ended   time.Time
	// encoded is the Pod without what nobody reads, as a protocol buffer.
	encoded []byte
}

// newPod returns what is kept of a Pod.
func newPod(source *corev1.Pod) *pod {
	p := readPod(source)
	p.encoded, _ = stripPod(source).Marshal() // a Pod that was decoded can be encoded
	return p
}

// readPod returns what is kept of a Pod, except the Pod itself.
func readPod(source *corev1.Pod) *pod {
	counted := usage.Of(source)
	p := &pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: intern.Text(source.Namespace), Name: source.Name, UID: source.UID, ResourceVersion: source.ResourceVersion,
		},
		role: intern.Text(source.Labels[resources.LabelRole]), number: intern.Text(source.Labels[submission.LabelExecutorID]),
		application: source.Labels[submission.LabelApplicationID], phase: corev1.PodPhase(intern.Text(string(source.Status.Phase))),
		requests: Resources{counted.MilliCPU, counted.Mebibytes, counted.GPUs}, created: source.CreationTimestamp.UTC(),
		started: startedAt(source), ended: seconds(cmp.Or(counted.Ended, counted.Finished)),
	}
	for _, label := range ownerLabels {
		if value := source.Labels[label]; value != "" {
			p.keys = append(p.keys, podKey{p.Namespace, label, intern.Text(value)})
		}
	}
	for _, condition := range source.Status.Conditions {
		p.ready = p.ready || condition.Type == corev1.PodReady && condition.Status == corev1.ConditionTrue
	}
	return p
}

func seconds(unix int64) time.Time {
	if unix == 0 {
		return time.Time{}
	}
	return time.Unix(unix, 0).UTC()
}

// startedAt returns when the first container of a Pod started; zero if none has.
func startedAt(source *corev1.Pod) (first time.Time) {
	for _, status := range source.Status.ContainerStatuses {
		var at time.Time
		switch {
		case status.State.Running != nil:
			at = status.State.Running.StartedAt.Time
		case status.State.Terminated != nil:
			at = status.State.Terminated.StartedAt.Time
		}
		if !at.IsZero() && (first.IsZero() || at.Before(first)) {
			first = at.UTC()
		}
	}
	return first
}

const (
	// maxPodMessage bounds a message in the status of a Pod, and maxPodParts the containers and conditions that are kept.
	maxPodMessage, maxPodParts = 1024, 16
)

// stripPod returns a copy of a Pod with what pkg/overview, pkg/diagnosis/why and the details read.
func stripPod(source *corev1.Pod) *corev1.Pod {
	kept := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: source.Namespace, Name: source.Name, UID: source.UID, CreationTimestamp: source.CreationTimestamp,
		DeletionTimestamp: source.DeletionTimestamp, DeletionGracePeriodSeconds: source.DeletionGracePeriodSeconds, Labels: map[string]string{},
	}}
	for _, label := range podLabels {
		if value, has := source.Labels[label]; has {
			kept.Labels[label] = value
		}
	}
	if owner := metav1.GetControllerOfNoCopy(source); owner != nil {
		kept.OwnerReferences = []metav1.OwnerReference{*owner}
	}
	spec, status := &source.Spec, &source.Status
	kept.Spec = corev1.PodSpec{
		NodeName: spec.NodeName, HostNetwork: spec.HostNetwork, ServiceAccountName: spec.ServiceAccountName, SchedulerName: spec.SchedulerName,
		SchedulingGates: spec.SchedulingGates, NodeSelector: spec.NodeSelector, ActiveDeadlineSeconds: spec.ActiveDeadlineSeconds,
		Containers: stripContainers(spec.Containers), InitContainers: stripContainers(spec.InitContainers),
	}
	kept.Status = corev1.PodStatus{
		Phase: status.Phase, Reason: status.Reason, Message: text.Clip(redact.Text(status.Message), maxPodMessage), StartTime: status.StartTime, PodIP: status.PodIP,
		QOSClass: status.QOSClass, ContainerStatuses: stripStatuses(status.ContainerStatuses), InitContainerStatuses: stripStatuses(status.InitContainerStatuses),
	}
	for _, condition := range status.Conditions[:min(len(status.Conditions), maxPodParts)] {
		condition.Message = text.Clip(redact.Text(condition.Message), maxPodMessage)
		kept.Status.Conditions = append(kept.Status.Conditions, condition)
	}
	return kept
}

func stripContainers(all []corev1.Container) (kept []corev1.Container) {
	for i := range all[:min(len(all), maxPodParts)] {
		c := &all[i]
		kept = append(kept, corev1.Container{Name: c.Name, Image: c.Image, Resources: c.Resources, RestartPolicy: c.RestartPolicy})
	}
	return kept
}

func stripStatuses(all []corev1.ContainerStatus) (kept []corev1.ContainerStatus) {
	strip := func(state corev1.ContainerState) corev1.ContainerState {
		if waiting := state.Waiting; waiting != nil {
			state.Waiting = &corev1.ContainerStateWaiting{Reason: waiting.Reason, Message: text.Clip(redact.Text(waiting.Message), maxPodMessage)}
		}
		if ended := state.Terminated; ended != nil {
			clipped := *ended
			clipped.Message = text.Clip(redact.Text(ended.Message), maxPodMessage)
			state.Terminated = &clipped
		}
		return state
	}
	for i := range all[:min(len(all), maxPodParts)] {
		s := &all[i]
		kept = append(kept, corev1.ContainerStatus{
			Name: s.Name, State: strip(s.State), LastTerminationState: strip(s.LastTerminationState), Ready: s.Ready, RestartCount: s.RestartCount,
			Image: s.Image, Started: s.Started,
		})
	}
	return kept
}

// read returns the Pod again.
func (p *pod) read() (*corev1.Pod, error) {
	source := &corev1.Pod{}
	return source, source.Unmarshal(p.encoded)
}

// over reports whether the Pod has ended.
func (p *pod) over() bool {
	return p.phase == corev1.PodSucceeded || p.phase == corev1.PodFailed
}

// current returns what the Pod requests; nothing after its end.
func (p *pod) current() Resources {
	if p.over() {
		return Resources{}
	}
	return p.requests
}

// add counts an executor or a worker.
func (e *Executors) add(p *pod) {
	switch {
	case p.phase == corev1.PodFailed:
		e.Lost++
	case p.phase == corev1.PodSucceeded:
	case p.phase == corev1.PodRunning && (p.ready || !p.started.IsZero()):
		e.Running++
	default:
		e.Pending++
	}
}

// span returns when an executor was there. gone is when its Pod disappeared; zero if it is there.
func (p *pod) span(gone time.Time) executorSpan {
	s := executorSpan{application: p.application, created: p.created.UnixMilli(), running: millis(p.started), ended: millis(p.ended), lost: p.phase == corev1.PodFailed}
	if s.ended == 0 {
		s.ended = millis(gone)
	}
	return s
}

func millis(at time.Time) int64 {
	if at.IsZero() {
		return 0
	}
	return at.UnixMilli()
}

// nameOf returns the name of a Pod as a key.
func nameOf(meta metav1.Object) types.NamespacedName {
	return types.NamespacedName{Namespace: meta.GetNamespace(), Name: meta.GetName()}
}
