package submission_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/firesteel-dev/firesteel/pkg/eventlog"
	"github.com/firesteel-dev/firesteel/pkg/podsecurity"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// driverPod is a complete driver Pod.
func driverPod() *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "pi-driver"},
		Spec: corev1.PodSpec{
			InitContainers: []corev1.Container{{Name: "fetch"}},
			Containers:     []corev1.Container{{Name: "vault-agent"}, {Name: submission.DefaultDriverContainer}},
		},
	}
}

func sidecar() *submission.EventLogSidecar {
	return &submission.EventLogSidecar{
		Image: "archive:1", Service: "https://archive.firesteel-system.svc", CA: "PEM", VolumeSize: resource.MustParse("1Gi"), Attempt: 2,
		Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("128Mi")}},
	}
}

func TestSidecarForEventLogsIsAdded(t *testing.T) {
	pod := driverPod()
	sidecar().AddTo(pod, submission.DefaultDriverContainer)
	if got := pod.Annotations[eventlog.AttemptAnnotation]; got != "2" {
		t.Errorf("the attempt is %q", got)
	}
	added := pod.Spec.InitContainers[len(pod.Spec.InitContainers)-1]
	if added.Name != eventlog.Container || *added.RestartPolicy != corev1.ContainerRestartPolicyAlways || len(pod.Spec.InitContainers) != 2 {
		t.Errorf("the sidecar is %+v", added)
	}
	env := map[string]string{}
	for _, variable := range added.Env {
		env[variable.Name] = variable.Value
	}
	for name, want := range map[string]string{
		"EVENT_LOG_FOLDER": submission.EventLogFolder, "EVENT_LOG_SERVICE": "https://archive.firesteel-system.svc", "EVENT_LOG_CA": "PEM", "EVENT_LOG_GRACE": "25s",
		"EVENT_LOG_MAX_BACKLOG": "536870912", "EVENT_LOG_TOKEN": "/var/run/firesteel/token/token", "GOMEMLIMIT": "134217728",
	} {
		if env[name] != want {
			t.Errorf("%s is %q, want %q", name, env[name], want)
		}
	}
	mounts := func(c corev1.Container) []string {
		var paths []string
		for _, mount := range c.VolumeMounts {
			paths = append(paths, mount.MountPath)
		}
		return paths
	}
	if got := mounts(pod.Spec.Containers[1]); !slices.Equal(got, []string{"/var/run/firesteel/event-logs"}) {
		t.Errorf("the driver mounts %v: it must not have the token", got)
	}
	if got := mounts(pod.Spec.Containers[0]); len(got) > 0 {
		t.Errorf("another sidecar mounts %v", got)
	}
	token := pod.Spec.Volumes[1].Projected.Sources[0].ServiceAccountToken
	if pod.Spec.Volumes[0].EmptyDir.SizeLimit.String() != "1Gi" || token.Audience != eventlog.Audience {
		t.Errorf("the volumes are %+v", pod.Spec.Volumes)
	}
}

func TestSidecarForEventLogsMeetsTheRestrictedProfile(t *testing.T) {
	pod := driverPod()
	podsecurity.Profile{Restricted: true, User: podsecurity.SparkUser}.Complete(&pod.Spec, 1)
	sidecar().AddTo(pod, submission.DefaultDriverContainer)
	if violations := podsecurity.Violations(pod); len(violations) > 0 {
		t.Errorf("the Pod violates the profile: %v", violations)
	}
}

func TestSidecarForEventLogsHasTheUserOfTheDriver(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*corev1.PodSpec)
		user   int64
		grace  string
	}{
		"that of Spark's images": {func(*corev1.PodSpec) {}, 185, "25s"},
		"the Pod's":              {func(s *corev1.PodSpec) { s.SecurityContext = &corev1.PodSecurityContext{RunAsUser: ptr.To[int64](7)} }, 7, "25s"},
		"the container's": {func(s *corev1.PodSpec) {
			s.SecurityContext = &corev1.PodSecurityContext{RunAsUser: ptr.To[int64](7)}
			s.Containers[1].SecurityContext = &corev1.SecurityContext{RunAsUser: ptr.To[int64](8)}
		}, 8, "25s"},
		"never root":     {func(s *corev1.PodSpec) { s.SecurityContext = &corev1.PodSecurityContext{RunAsUser: ptr.To[int64](0)} }, 185, "25s"},
		"a long grace":   {func(s *corev1.PodSpec) { s.TerminationGracePeriodSeconds = ptr.To[int64](600) }, 185, "9m55s"},
		"no grace":       {func(s *corev1.PodSpec) { s.TerminationGracePeriodSeconds = ptr.To[int64](0) }, 185, "1s"},
		"an endless one": {func(s *corev1.PodSpec) { s.TerminationGracePeriodSeconds = ptr.To[int64](1 << 62) }, 185, "59m55s"},
		"a negative one": {func(s *corev1.PodSpec) { s.TerminationGracePeriodSeconds = ptr.To[int64](-1) }, 185, "1s"},
		"groups are kept": {func(s *corev1.PodSpec) {
			s.SecurityContext = &corev1.PodSecurityContext{SupplementalGroups: []int64{65532, 9}}
		}, 185, "25s"},
	} {
		pod := driverPod()
		test.change(&pod.Spec)
		sidecar().AddTo(pod, submission.DefaultDriverContainer)
		added := pod.Spec.InitContainers[1]
		grace := added.Env[slices.IndexFunc(added.Env, func(e corev1.EnvVar) bool { return e.Name == "EVENT_LOG_GRACE" })].Value
		groups := pod.Spec.SecurityContext.SupplementalGroups
		if *added.SecurityContext.RunAsUser != test.user || grace != test.grace || !slices.Contains(groups, 65532) || len(groups) > 2 {
			t.Errorf("%s: user %d, grace %s, groups %v", name, *added.SecurityContext.RunAsUser, grace, groups)
		}
	}
}
