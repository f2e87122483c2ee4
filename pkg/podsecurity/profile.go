package podsecurity

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// SparkUser is the user of Spark in its images.
const SparkUser = 185

// Profile is what Pods get that their user leaves out. Its zero value is nothing.
type Profile struct {
	// Restricted completes Pods for the restricted profile.
	Restricted bool `json:",omitempty"`
	// User is the numeric user of Spark's container if neither Pod nor container names one; 0 for the user of the image. A node starts an
	// image without a numeric user in no Pod with runAsNonRoot.
	User int64 `json:",omitempty"`
}

// Complete fills in what a Pod leaves out and the profile needs. at is the index of Spark's container. What the Pod has stays. A container
// that is privileged or runs as root by its user's choice stays as it is: the rest would not make it conform, and could break it.
func (p Profile) Complete(pod *corev1.PodSpec, at int) {
	if !p.Restricted {
		return
	}
	context := pod.SecurityContext
	if context == nil {
		context = &corev1.PodSecurityContext{}
		pod.SecurityContext = context
	}
	if context.SeccompProfile == nil {
		context.SeccompProfile = &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}
	}
	conforming, others := []*corev1.Container{}, false
	for _, container := range containersOf(pod) {
		if container.SecurityContext != nil && Privileged(container.SecurityContext) || runsAsRoot(context, container) {
			others = true
			continue
		}
		conforming = append(conforming, container)
	}
	if context.RunAsNonRoot == nil && !others {
		context.RunAsNonRoot = ptr.To(true)
	}
	for _, container := range conforming {
		p.completeContainer(context, container, at < len(pod.Containers) && container == &pod.Containers[at])
	}
}

func (p Profile) completeContainer(ofPod *corev1.PodSecurityContext, container *corev1.Container, spark bool) {
	if container.SecurityContext == nil {
		container.SecurityContext = &corev1.SecurityContext{}
	}
	context := container.SecurityContext
	if context.AllowPrivilegeEscalation == nil {
		context.AllowPrivilegeEscalation = ptr.To(false)
	}
	if context.Capabilities == nil {
		context.Capabilities = &corev1.Capabilities{}
	}
	if len(context.Capabilities.Drop) == 0 {
		context.Capabilities.Drop = []corev1.Capability{"ALL"}
	}
	if context.RunAsNonRoot == nil && ofPod.RunAsNonRoot == nil {
		context.RunAsNonRoot = ptr.To(true)
	}
	nonRoot := ptr.Deref(context.RunAsNonRoot, ptr.Deref(ofPod.RunAsNonRoot, false))
	if spark && p.User > 0 && nonRoot && context.RunAsUser == nil && ofPod.RunAsUser == nil {
		context.RunAsUser = ptr.To(p.User)
	}
}

func containersOf(pod *corev1.PodSpec) []*corev1.Container {
	var all []*corev1.Container
	for _, containers := range [][]corev1.Container{pod.InitContainers, pod.Containers} {
		for i := range containers {
			all = append(all, &containers[i])
		}
	}
	return all
}

// runsAsRoot reports whether the user of the Pod chose root for a container.
func runsAsRoot(ofPod *corev1.PodSecurityContext, container *corev1.Container) bool {
	user := ofPod.RunAsUser
	if context := container.SecurityContext; context != nil && context.RunAsUser != nil {
		user = context.RunAsUser
	}
	return user != nil && *user == 0
}

// Privileged reports whether Kubernetes lets a container's processes gain privileges whatever else is set.
func Privileged(context *corev1.SecurityContext) bool {
	return ptr.Deref(context.Privileged, false) ||
		context.Capabilities != nil && slices.Contains(context.Capabilities.Add, "CAP_SYS_ADMIN")
}
