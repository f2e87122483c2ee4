package podvalidation

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/utils/ptr"

	"github.com/firesteel-dev/firesteel/pkg/finding"
)

// Sidecars returns what the API server refuses about containers beside Spark's. Nothing completes them.
func Sidecars(path string, containers []corev1.Container) finding.List {
	c := &checker{}
	for i, container := range containers {
		at := fmt.Sprintf("%s[%d]", path, i)
		if container.Image == "" {
			c.missing(at + ".image")
		}
		c.add(Container(at, &container)...)
	}
	return c.found
}

// complete refuses containers without a name or an image.
func (c *checker) complete(path string, spec *corev1.PodSpec) {
	for list, containers := range containersOf(spec) {
		for i, container := range containers {
			at := fmt.Sprintf("%s.%s[%d].", path, list, i)
			if container.Name == "" {
				c.missing(at + "name")
			}
			if container.Image == "" {
				c.missing(at + "image")
			}
		}
	}
}

// namesOfContainers refuses a container with the name of another one.
func (c *checker) namesOfContainers(path string, spec *corev1.PodSpec) {
	first := map[string]string{}
	for list, containers := range containersOf(spec) {
		for i, container := range containers {
			at := fmt.Sprintf("%s.%s[%d]", path, list, i)
			if other, taken := first[container.Name]; taken {
				c.refuse(at+".name", container.Name, "is the name of "+other+" as well", "choose another")
			} else if container.Name != "" {
				first[container.Name] = at
			}
		}
	}
}

// Container returns what the API server refuses about a container, or about a part of one.
func Container(path string, container *corev1.Container) finding.List {
	c := &checker{}
	at := func(name string) string { return path + "." + name }
	if container.Name != "" {
		c.reasons(at("name"), container.Name, "is no name of a container", validation.IsDNS1123Label(container.Name))
	}
	choice(c, at("imagePullPolicy"), container.ImagePullPolicy, corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever)
	choice(c, at("terminationMessagePolicy"), container.TerminationMessagePolicy, corev1.TerminationMessageReadFile, corev1.TerminationMessageFallbackToLogsOnError)
	c.variables(at("env"), container.Env)
	c.ports(at("ports"), container.Ports)
	c.mounts(at("volumeMounts"), container.VolumeMounts)
	c.resources(at("resources"), container.Resources)
	c.containerSecurity(at("securityContext"), container.SecurityContext)
	c.probe(at("livenessProbe"), container.LivenessProbe)
	c.probe(at("readinessProbe"), container.ReadinessProbe)
	c.probe(at("startupProbe"), container.StartupProbe)
	return c.found
}

func (c *checker) probe(path string, probe *corev1.Probe) {
	if probe != nil && probe.HTTPGet != nil {
		choice(c, path+".httpGet.scheme", probe.HTTPGet.Scheme, corev1.URISchemeHTTP, corev1.URISchemeHTTPS)
	}
}

func (c *checker) variables(path string, variables []corev1.EnvVar) {
	for i, v := range variables {
		at := fmt.Sprintf("%s[%d].", path, i)
		if v.Name == "" {
			c.missing(at + "name")
		} else {
			c.reasons(at+"name", v.Name, "is no name of a variable", validation.IsRelaxedEnvVarName(v.Name))
		}
		switch from := v.ValueFrom; {
		case from == nil:
		case *from == corev1.EnvVarSource{}:
			c.refuse(at+"valueFrom", nil, "names no source", "write secretKeyRef, configMapKeyRef, fieldRef or resourceFieldRef below it")
		case v.Value != "":
			c.refuse(at+"value", v.Value, "cannot go with valueFrom", "leave one of the two out")
		}
	}
}

func (c *checker) ports(path string, ports []corev1.ContainerPort) {
	for i, port := range ports {
		at := fmt.Sprintf("%s[%d].", path, i)
		if port.Name != "" {
			c.reasons(at+"name", port.Name, "is no name of a port", validation.IsValidPortName(port.Name))
		}
		if len(validation.IsValidPortNum(int(port.ContainerPort))) > 0 {
			c.refuse(at+"containerPort", port.ContainerPort, "is no port", "write a number from 1 to 65535")
		}
		choice(c, at+"protocol", port.Protocol, corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP)
	}
}

func (c *checker) mounts(path string, mounts []corev1.VolumeMount) {
	for i, mount := range mounts {
		at := fmt.Sprintf("%s[%d].", path, i)
		if mount.MountPath == "" {
			c.missing(at + "mountPath")
		}
		choice(c, at+"mountPropagation", ptr.Deref(mount.MountPropagation, ""),
			corev1.MountPropagationNone, corev1.MountPropagationHostToContainer, corev1.MountPropagationBidirectional)
		c.within(at+"subPath", mount.SubPath)
		c.within(at+"subPathExpr", mount.SubPathExpr)
	}
}

// within refuses a path that leads out of a volume.
func (c *checker) within(path, given string) {
	if strings.HasPrefix(given, "/") || slices.Contains(strings.Split(given, "/"), "..") {
		c.refuse(path, given, "is no path within the volume", "write one without / at its beginning and without ..")
	}
}

// PodSecurity returns what the API server refuses about the security context of a Pod.
func PodSecurity(path string, security *corev1.PodSecurityContext) finding.List {
	if security == nil {
		return nil
	}
	c := &checker{}
	c.id(path+".runAsUser", security.RunAsUser)
	c.id(path+".runAsGroup", security.RunAsGroup)
	c.id(path+".fsGroup", security.FSGroup)
	for i, group := range security.SupplementalGroups {
		c.id(fmt.Sprintf("%s.supplementalGroups[%d]", path, i), &group)
	}
	choice(c, path+".fsGroupChangePolicy", ptr.Deref(security.FSGroupChangePolicy, ""), corev1.FSGroupChangeOnRootMismatch, corev1.FSGroupChangeAlways)
	choice(c, path+".supplementalGroupsPolicy", ptr.Deref(security.SupplementalGroupsPolicy, ""),
		corev1.SupplementalGroupsPolicyMerge, corev1.SupplementalGroupsPolicyStrict)
	c.profiles(path, security.SeccompProfile, security.AppArmorProfile)
	return c.found
}

func (c *checker) containerSecurity(path string, security *corev1.SecurityContext) {
	if security == nil {
		return
	}
	c.id(path+".runAsUser", security.RunAsUser)
	c.id(path+".runAsGroup", security.RunAsGroup)
	choice(c, path+".procMount", ptr.Deref(security.ProcMount, ""), corev1.DefaultProcMount, corev1.UnmaskedProcMount)
	c.profiles(path, security.SeccompProfile, security.AppArmorProfile)
}

func (c *checker) id(path string, id *int64) {
	if id != nil && len(validation.IsValidUserID(*id)) > 0 {
		c.refuse(path, *id, "is no ID of a user or group", "write a number from 0 to 2147483647")
	}
}

func (c *checker) profiles(path string, seccomp *corev1.SeccompProfile, apparmor *corev1.AppArmorProfile) {
	if seccomp != nil {
		at := path + ".seccompProfile.type"
		if seccomp.Type == "" {
			c.missing(at)
		}
		choice(c, at, seccomp.Type, corev1.SeccompProfileTypeRuntimeDefault, corev1.SeccompProfileTypeLocalhost, corev1.SeccompProfileTypeUnconfined)
	}
	if apparmor != nil {
		at := path + ".appArmorProfile.type"
		if apparmor.Type == "" {
			c.missing(at)
		}
		choice(c, at, apparmor.Type, corev1.AppArmorProfileTypeRuntimeDefault, corev1.AppArmorProfileTypeLocalhost, corev1.AppArmorProfileTypeUnconfined)
	}
}

// Volumes returns what the API server refuses about volumes.
func Volumes(path string, volumes []corev1.Volume) finding.List {
	c := &checker{}
	for i, volume := range volumes {
		at := fmt.Sprintf("%s[%d].", path, i)
		if volume.Name != "" {
			c.reasons(at+"name", volume.Name, "is no name of a volume", validation.IsDNS1123Label(volume.Name))
		}
		if source := volume.HostPath; source != nil {
			if source.Path == "" {
				c.missing(at + "hostPath.path")
			}
			choice(c, at+"hostPath.type", ptr.Deref(source.Type, ""), corev1.HostPathDirectoryOrCreate, corev1.HostPathDirectory, corev1.HostPathFileOrCreate,
				corev1.HostPathFile, corev1.HostPathSocket, corev1.HostPathCharDev, corev1.HostPathBlockDev)
		}
		if source := volume.PersistentVolumeClaim; source != nil && source.ClaimName == "" {
			c.missing(at + "persistentVolumeClaim.claimName")
		}
	}
	return c.found
}
