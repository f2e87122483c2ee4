package submission

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/firesteel-dev/firesteel/pkg/eventlog"
	"github.com/firesteel-dev/firesteel/pkg/podsecurity"
)

const (
	// EventLogFolder is the folder in which the driver writes its event log for the sidecar.
	EventLogFolder = eventLogMount + "/logs"

	eventLogMount      = "/var/run/firesteel/event-logs"
	eventLogToken      = "firesteel-event-logs-token"
	eventLogTokenMount = "/var/run/firesteel/token"
	// eventLogGroup is the group of the folder, which all containers of the driver Pod are in.
	eventLogGroup = 65532
	// eventLogTokenSeconds is how long a token is valid. The kubelet renews it.
	eventLogTokenSeconds = 3600
)

const (
	// defaultGrace is the grace period of a Pod that names none.
	defaultGrace = 30 * time.Second
	// graceMargin is how long before the end of the grace period the sidecar ends by itself. Before that, the driver may have used a part of it.
	graceMargin = 5 * time.Second
)

// EventLogSidecar is the native sidecar of a driver that sends Spark's event log to the archive. Spark has none such.
type EventLogSidecar struct {
	// Image is Firesteel's image of cmd/archive.
	Image string
	// Service is the URL of the archive's service. CA holds the certificates that its certificate is checked with; empty for those of the image.
	Service, CA string
	Resources   corev1.ResourceRequirements
	// VolumeSize bounds what the driver writes and the sidecar has not sent yet.
	VolumeSize resource.Quantity
	// Attempt is the number of the attempt, which the service reads from the Pod.
	Attempt int64
}

// AddTo adds the sidecar to a complete driver Pod, behind its other init containers: it is started when they have ended, and what follows is started when it
// runs. spark is the name of Spark's container.
func (s *EventLogSidecar) AddTo(pod *corev1.Pod, spark string) {
	volume := corev1.VolumeMount{Name: eventlog.Container, MountPath: eventLogMount}
	token := corev1.VolumeMount{Name: eventLogToken, MountPath: eventLogTokenMount, ReadOnly: true}
	pod.Spec.Volumes = append(pod.Spec.Volumes,
		corev1.Volume{Name: volume.Name, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: ptr.To(s.VolumeSize)}}},
		corev1.Volume{Name: token.Name, VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{{
			ServiceAccountToken: &corev1.ServiceAccountTokenProjection{
				Audience: eventlog.Audience, ExpirationSeconds: ptr.To[int64](eventLogTokenSeconds), Path: "token",
			},
		}}}}},
	)
	metav1.SetMetaDataAnnotation(&pod.ObjectMeta, eventlog.AttemptAnnotation, strconv.FormatInt(s.Attempt, 10))
	if pod.Spec.SecurityContext == nil {
		pod.Spec.SecurityContext = &corev1.PodSecurityContext{}
	}
	ofPod := pod.Spec.SecurityContext
	if !slices.Contains(ofPod.SupplementalGroups, eventLogGroup) {
		ofPod.SupplementalGroups = append(ofPod.SupplementalGroups, eventLogGroup)
	}
	i := slices.IndexFunc(pod.Spec.Containers, func(c corev1.Container) bool { return c.Name == spark })
	driver := &pod.Spec.Containers[max(i, 0)]
	driver.VolumeMounts = append(driver.VolumeMounts, volume)
	grace := defaultGrace
	if seconds := pod.Spec.TerminationGracePeriodSeconds; seconds != nil {
		grace = time.Duration(min(max(*seconds, 0), maxGraceSeconds)) * time.Second
	}
	pod.Spec.InitContainers = append(pod.Spec.InitContainers, corev1.Container{
		Name: eventlog.Container, Image: s.Image, Args: []string{"send"}, RestartPolicy: ptr.To(corev1.ContainerRestartPolicyAlways),
		Env: s.environment(grace), Resources: *s.Resources.DeepCopy(), VolumeMounts: []corev1.VolumeMount{volume, token},
		SecurityContext: &corev1.SecurityContext{
			RunAsNonRoot: ptr.To(true), RunAsUser: ptr.To(userOf(ofPod, driver)), RunAsGroup: ptr.To[int64](eventLogGroup),
			AllowPrivilegeEscalation: ptr.To(false), ReadOnlyRootFilesystem: ptr.To(true),
			Capabilities:   &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
	})
}

// maxGraceSeconds bounds the grace period of a Pod as far as the sidecar uses it.
const maxGraceSeconds = 3600

func (s *EventLogSidecar) environment(grace time.Duration) []corev1.EnvVar {
	env := []corev1.EnvVar{
		{Name: "EVENT_LOG_FOLDER", Value: EventLogFolder},
		{Name: "EVENT_LOG_SERVICE", Value: s.Service},
		{Name: "EVENT_LOG_TOKEN", Value: eventLogTokenMount + "/token"},
		{Name: "EVENT_LOG_GRACE", Value: max(grace-graceMargin, time.Second).String()},
		// The rest of the volume is for what Spark writes until the sidecar notices.
		{Name: "EVENT_LOG_MAX_BACKLOG", Value: strconv.FormatInt(s.VolumeSize.Value()/2, 10)},
	}
	if s.CA != "" {
		env = append(env, corev1.EnvVar{Name: "EVENT_LOG_CA", Value: s.CA})
	}
	if memory, ok := s.Resources.Limits[corev1.ResourceMemory]; ok { // the garbage collector keeps the heap below it
		env = append(env, corev1.EnvVar{Name: "GOMEMLIMIT", Value: strconv.FormatInt(memory.Value(), 10)})
	}
	return env
}

// userOf returns the user of the sidecar: the driver's if that is known, since Spark's files are readable for their user and group alone.
func userOf(ofPod *corev1.PodSecurityContext, driver *corev1.Container) int64 {
	user := ofPod.RunAsUser
	if context := driver.SecurityContext; context != nil && context.RunAsUser != nil {
		user = context.RunAsUser
	}
	return cmp.Or(ptr.Deref(user, podsecurity.SparkUser), podsecurity.SparkUser) // never root
}
