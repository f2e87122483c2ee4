package why

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

// driver returns what keeps the driver Pod from starting.
func (v *view) driver() []Reason {
	pod := v.Driver
	if pod == nil || v.observed.End != nil || v.over() {
		return nil
	}
	if v.observed.Unknown || v.state == lifecycle.Unknown {
		return []Reason{{
			Cause: NodeSilent, Summary: "The driver's node does not report the driver's state.",
			Evidence: fmt.Sprintf("Pod %s on node %s has the phase %s.", pod.Name, pod.Spec.NodeName, pod.Status.Phase),
			Remedy:   "See the node. If it is lost, delete the Node, or taint it with node.kubernetes.io/out-of-service.",
		}}
	}
	if pod.DeletionTimestamp != nil {
		return []Reason{{
			Cause: EarlierDriver, Summary: "The driver Pod's deletion was accepted and it is not gone yet: " + v.observed.DescribeTerminating() + ".",
			Evidence: fmt.Sprintf("Pod %s has a deletionTimestamp since %s.", pod.Name, v.age(v.observed.TerminatingSince)),
		}}
	}
	if v.observed.Started {
		return v.unready()
	}
	return v.pending(pod, "Driver Pod", ofDriver)
}

// unready returns why a running driver is not ready; nothing if it is ready.
func (v *view) unready() []Reason {
	if v.observed.Ready || v.state.Running() || v.Record == nil {
		return nil
	}
	for _, status := range v.Driver.Status.ContainerStatuses {
		if status.State.Running != nil && !status.Ready {
			return []Reason{{
				Cause: DriverNotReady, Summary: fmt.Sprintf("Running but not ready: container %s; see its readiness probe.", status.Name),
				Evidence: fmt.Sprintf("Container %s of Pod %s has run for %s and is not ready.", status.Name, v.Driver.Name, v.age(status.State.Running.StartedAt.Time)),
			}}
		}
	}
	return nil
}

// pending returns what keeps a Pod from starting.
func (v *view) pending(pod *corev1.Pod, what, role string) []Reason {
	if all := v.unscheduled(pod, what, role); len(all) > 0 {
		return all
	}
	for _, status := range append(slices.Clone(pod.Status.InitContainerStatuses), pod.Status.ContainerStatuses...) {
		waiting := status.State.Waiting
		known := lifecycle.WaitingCause(&corev1.Pod{Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{status}}}, what)
		switch {
		case waiting == nil:
		case known != nil && known.Reason == "ImagePullFailed":
			return []Reason{v.image(pod, status, known.Message)}
		case known != nil:
			return []Reason{v.notCreated(pod, status, known.Message)}
		case waiting.Reason == "CrashLoopBackOff":
			return []Reason{{
				Cause: ContainerNotCreated, Summary: fmt.Sprintf("Container %s of %s ends again and again.", status.Name, pod.Name),
				Evidence: fmt.Sprintf("It was restarted %d times: %s", status.RestartCount, waiting.Message),
				Remedy:   fmt.Sprintf("See its log: kubectl logs %s -c %s --previous", pod.Name, status.Name),
			}}
		}
	}
	return v.preparing(pod)
}

// pullErrors are words in the messages of registries, with the cause. The first row that matches counts.
var pullErrors = []struct {
	words  []string
	cause  Cause
	remedy string
}{
	{
		[]string{"unauthorized", "authentication required", "access denied", "denied:", "403 Forbidden", "401 Unauthorized", "insufficient_scope", "no basic auth"},
		ImageForbidden, "Name a pull secret that may read the image (spark.kubernetes.container.image.pullSecrets), or correct the image's name.",
	},
	{
		[]string{"manifest unknown", "not found", "NotFound", "no match for platform"},
		ImageNotFound, "Correct the image's name or its tag, or push the image.",
	},
	{
		[]string{"no such host", "i/o timeout", "connection refused", "dial tcp", "x509", "TLS handshake", "toomanyrequests", "deadline exceeded"},
		RegistryUnreachable, "See whether the node reaches the registry: its name, a proxy, a certificate, a limit of requests.",
	},
}

// image returns why an image cannot be pulled.
func (v *view) image(pod *corev1.Pod, status corev1.ContainerStatus, summary string) Reason {
	r := Reason{
		Cause: ImagePullFailed, Summary: summary, Remedy: "Correct the image's name or its pull secret.", Changes: []Change{{Image, "IMAGE"}},
	}
	message := status.State.Waiting.Message
	r.Evidence = fmt.Sprintf("The kubelet says of container %s: %s", status.Name, cmp.Or(message, status.State.Waiting.Reason))
	if e := v.event(pod.Name, "Failed", "ErrImagePull"); e != nil && strings.Contains(e.Message, "pull") {
		message += " " + e.Message
		r.Evidence = v.eventEvidence(e)
	}
	if status.State.Waiting.Reason == "InvalidImageName" {
		r.Cause, r.Remedy = ImageNameInvalid, "Correct the image's name: it is no reference such as registry.example.com/team/spark:4.0.1."
		return r
	}
	for _, known := range pullErrors {
		if containsAny(message, known.words...) {
			r.Cause, r.Remedy = known.cause, known.remedy
			break
		}
	}
	if r.Cause == RegistryUnreachable {
		r.Changes = nil
	}
	return r
}

// notCreated returns why a container cannot be created.
func (v *view) notCreated(pod *corev1.Pod, status corev1.ContainerStatus, summary string) Reason {
	message := status.State.Waiting.Message
	r := Reason{Summary: summary, Evidence: fmt.Sprintf("The kubelet says of Pod %s: %s.", pod.Name, status.State.Waiting.Reason)}
	r.Cause, r.Remedy = missingObject(message)
	switch {
	case r.Cause != "":
	case containsAny(message, "exec format error"):
		r.Cause, r.Remedy = WrongArchitecture, "Use an image for the architecture of the node, or select nodes of the image's."
	case containsAny(message, "no such file or directory", "executable file not found", "permission denied"):
		r.Cause, r.Remedy = ContainerCommandLost, "Correct the image's entrypoint: is this an image of Spark?"
		r.Changes = []Change{{Image, "IMAGE"}}
	default:
		r.Cause, r.Remedy = ContainerNotCreated, "Correct what the message names."
	}
	return r
}

// missingObject returns the cause and the remedy if a message of the kubelet reports a missing object; empty if it does not.
func missingObject(message string) (Cause, string) {
	lower := strings.ToLower(message)
	missing := containsAny(lower, "not found", "non-existent", "couldn't find key")
	switch {
	case missing && strings.Contains(lower, "secret"):
		return SecretMissing, "Create the Secret or the key, or correct the name."
	case missing && strings.Contains(lower, "configmap"):
		return ConfigMapMissing, "Create the ConfigMap or the key, or correct the name."
	case missing && strings.Contains(lower, "persistentvolumeclaim"):
		return ClaimMissing, "Create the claim, or correct its name."
	default:
		return "", ""
	}
}

// preparing returns what keeps a node from preparing a Pod.
func (v *view) preparing(pod *corev1.Pod) []Reason {
	if pod.Status.Phase != corev1.PodPending {
		return nil
	}
	if e := v.event(pod.Name, "FailedMount", "FailedAttachVolume", "FailedMapVolume"); e != nil {
		r := Reason{Cause: VolumeNotMounted, Summary: v.preparingMessage(pod), Evidence: v.eventEvidence(e), Remedy: "Correct the volume that the Event names."}
		if cause, remedy := missingObject(e.Message); cause != "" {
			r.Cause, r.Remedy = cause, remedy
		} else if e.Reason == "FailedAttachVolume" {
			r.Cause, r.Remedy = VolumeNotAttached, "See where else the volume is attached, and the log of its driver."
		}
		return []Reason{r}
	}
	if e := v.event(pod.Name, "FailedCreatePodSandBox", "NetworkNotReady"); e != nil {
		return []Reason{{
			Cause: PodNetworkFailed, Summary: v.preparingMessage(pod), Evidence: v.eventEvidence(e), Remedy: "See the network plugin of the node.",
		}}
	}
	if at := lifecycle.PreparingSince(pod); !at.IsZero() && v.Now.Sub(at) >= lifecycle.PreparationTime {
		return []Reason{{
			Cause: PodPreparing, Summary: v.preparingMessage(pod),
			Evidence: fmt.Sprintf("Pod %s was given to node %s %s ago.", pod.Name, pod.Spec.NodeName, v.age(at)),
		}}
	}
	return nil
}

// preparingMessage returns the message of the condition for a Pod that its node prepares.
func (v *view) preparingMessage(pod *corev1.Pod) string {
	if v.Driver != nil && pod.Name == v.Driver.Name {
		return lifecycle.PreparingCause("driver Pod").Message
	}
	return lifecycle.PreparingCause("Pod " + pod.Name).Message
}

func containsAny(words string, wanted ...string) bool {
	return slices.ContainsFunc(wanted, func(part string) bool { return strings.Contains(words, part) })
}
