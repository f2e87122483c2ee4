package why

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

// schedulingTime is how long a Pod may be without the condition PodScheduled before it counts as unseen by all schedulers.
const schedulingTime = 30 * time.Second

// schedulerWords are words in the scheduler's message, with the cause. The first row that matches counts.
var schedulerWords = []schedulerWord{
	{"Insufficient cpu", NotEnoughCPU, "Add a node with free CPU, or ask for fewer cores."},
	{"Insufficient memory", NotEnoughMemory, "Add a node with free memory, or ask for less."},
	{"Insufficient ", NotEnoughOfResource, "Add a node that has the resource, or ask for less of it."},
	{"Too many pods", NodesFull, "Add a node: those that there are have as many Pods as they may have."},
	{"untolerated taint", NodesTainted, "Add a toleration for the taint to the Pod's template, or take the taint off a node."},
	{"volume node affinity conflict", VolumeElsewhere, "Let the Pod run where its volume is: correct its node selector, or move the volume."},
	{"node affinity", NodeSelectorNoMatch, "Correct the node selector or the affinity, or label a node."},
	{"node selector", NodeSelectorNoMatch, "Correct the node selector or the affinity, or label a node."},
	{"affinity rules", PodAffinityNoMatch, "Correct the affinity of the Pod's template, or add a node."},
	{"topology spread", PodAffinityNoMatch, "Correct the topology spread constraints of the Pod's template, or add a node."},
	{"unbound immediate PersistentVolumeClaims", ClaimUnbound, "See the claim: kubectl describe pvc names the storage class, or the volume that is missing."},
	{"persistentvolumeclaim", ClaimMissing, "Create the claim, or correct its name."},
	{"were unschedulable", NodesCordoned, "Uncordon a node, or add one."},
}

// schedulerWord is a row of schedulerWords.
type schedulerWord struct {
	words  string
	cause  Cause
	remedy string
}

// obstacle is what keeps a Pod from some nodes.
type obstacle struct {
	nodes  int
	words  string
	cause  Cause
	remedy string
}

var ofNodes = regexp.MustCompile(`^(\d+) `)

// obstacles returns the parts of a message of the scheduler. Those about the Pod itself are first, then those about the most nodes.
func obstacles(message string) []obstacle {
	_, listed, counted := strings.Cut(message, " nodes are available: ")
	if !counted {
		listed = message
	}
	listed, _, _ = strings.Cut(listed, ". ") // the rest is about preemption
	var all []obstacle
	for _, part := range strings.Split(strings.TrimSuffix(listed, "."), ", ") {
		o := obstacle{words: part, cause: Unschedulable}
		if found := ofNodes.FindStringSubmatch(part); found != nil {
			o.nodes, _ = strconv.Atoi(found[1]) // 0 if it does not fit into an int
		}
		at := slices.IndexFunc(schedulerWords, func(w schedulerWord) bool { return strings.Contains(part, w.words) })
		if at >= 0 {
			o.cause, o.remedy = schedulerWords[at].cause, schedulerWords[at].remedy
		}
		all = append(all, o)
	}
	slices.SortStableFunc(all, func(a, b obstacle) int {
		if (a.nodes == 0) != (b.nodes == 0) { // without a number, it is about the Pod
			return cmp.Compare(a.nodes, b.nodes)
		}
		return cmp.Compare(b.nodes, a.nodes)
	})
	return all
}

// unscheduled returns why a Pod has no node.
func (v *view) unscheduled(pod *corev1.Pod, what, role string) []Reason {
	scheduled := podCondition(pod, corev1.PodScheduled)
	switch {
	case pod.Spec.NodeName != "", pod.Status.Phase != corev1.PodPending && pod.Status.Phase != "":
		return nil
	case scheduled == nil || scheduled.Status == corev1.ConditionTrue:
		return v.unseen(pod, what)
	case scheduled.Reason == corev1.PodReasonSchedulingGated:
		return []Reason{{
			Cause: SchedulingGated, Summary: what + " waits for its scheduling gates.", Evidence: fmt.Sprintf("The Pod has the gates %s.", gates(pod)),
			Remedy: "See the controller of the gates, such as a queue of Kueue.",
		}}
	}
	message := scheduled.Message
	if e := v.event(pod.Name, "FailedScheduling"); message == "" && e != nil {
		message = e.Message
	}
	evidence := "The scheduler gives no reason."
	if message != "" {
		evidence = fmt.Sprintf("The scheduler says of Pod %s: %s", pod.Name, message)
	}
	summary := lifecycle.WaitingCause(pod, what).Message
	var all []Reason
	for _, o := range obstacles(message) {
		all = append(all, Reason{Cause: o.cause, Summary: summary, Evidence: evidence, Remedy: o.remedy, Changes: v.changesFor(o.cause, role)})
	}
	return all
}

// changesFor returns the changes with which a Pod of a role asks for less, if that removes the cause.
func (v *view) changesFor(cause Cause, role string) []Change {
	switch cause {
	case NotEnoughCPU:
		return v.fewerCores(role)
	case NotEnoughMemory:
		return v.lessHeap(role)
	default:
		return nil
	}
}

// unseen returns the cause for a Pod about which no scheduler has written a condition.
func (v *view) unseen(pod *corev1.Pod, what string) []Reason {
	if v.Now.Sub(pod.CreationTimestamp.Time) < schedulingTime {
		return nil
	}
	return []Reason{{
		Cause: NoScheduler, Summary: what + " is not scheduled, and no scheduler has said why.",
		Evidence: fmt.Sprintf("Pod %s was created %s ago for the scheduler %s, and has no condition PodScheduled.",
			pod.Name, v.age(pod.CreationTimestamp.Time), cmp.Or(pod.Spec.SchedulerName, corev1.DefaultSchedulerName)),
		Remedy: "Make sure that a scheduler of that name runs, or name another one.",
	}}
}

func gates(pod *corev1.Pod) string {
	var names []string
	for _, gate := range pod.Spec.SchedulingGates {
		names = append(names, gate.Name)
	}
	return strings.Join(names, ", ")
}

func podCondition(pod *corev1.Pod, kind corev1.PodConditionType) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == kind {
			return &pod.Status.Conditions[i]
		}
	}
	return nil
}
