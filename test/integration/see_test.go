package integration

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/diagnosis/why"
	"github.com/firesteel-dev/firesteel/test/harness/kubelet"
)

// sparkSays fails the test if a command line fails, or does not print all parts.
func (s *env) sparkSays(line string, parts ...string) {
	s.Helper()
	code, out, errOut := s.spark(s.Context(), line)
	if code != 0 {
		s.Errorf("%s: exit code %d: %s", line, code, errOut)
	}
	for _, part := range parts {
		if !strings.Contains(out, part) {
			s.Errorf("%s does not print %q:\n%s", line, part, out)
		}
	}
}

// sparkFails fails the test if a command line has another exit code, or prints another error.
func (s *env) sparkFails(line string, want int, part string) {
	s.Helper()
	code, _, errOut := s.spark(s.Context(), line)
	if code != want || !strings.Contains(errOut, part) || strings.Count(errOut, "\n") != 1 {
		s.Errorf("%s: exit code %d, want %d: %s\ndoes not print in one line: %s", line, code, want, errOut, part)
	}
}

func TestSeeEachVerbOfAnApplicationThatRuns(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	app := App("pi").Conf("spark.my.password", "hunter2-4711").Tolerations(sparkv1.ApplicationTolerations{ResourceRetainPolicy: sparkv1.RetainAlways})
	s.create(app)
	d := s.run("pi", 0)
	e := d.executor(1)
	_, err := s.Kube.CoreV1().Pods(s.ns).Patch(t.Context(), e.Name, types.MergePatchType,
		[]byte(fmt.Sprintf(`{"metadata":{"labels":{"spark-exec-id":"1","spark.operator/spark-app-name":%q}}}`, d.Labels["spark.operator/spark-app-name"])), metav1.PatchOptions{})
	s.must(err)
	e.start().ready()
	s.sparkSays("list", "application", "pi", "RunningHealthy")
	s.sparkSays("list --state running -o wide", "spark.apache.org", "pi-0-driver")
	s.sparkSays("list -o name", "sparkapplication.spark.apache.org/pi")
	s.sparkSays("list --chunk-size 1 --sort-by age", "pi")
	s.sparkSays("get pi", "RunningHealthy", d.Name, "1 of 1 ready", "TIMELINE", "DriverRequested", "CONDITIONS", "Succeeded")
	s.sparkSays("get sparkapp.spark.apache.org/pi -o jsonpath={.metadata.name}", "pi")
	s.sparkSays("events pi", "Transition", "DriverReady", "RunningHealthy")
	s.sparkFails("logs pi", 1, "the log of Pod "+d.Name+" cannot be read") // no kubelet serves it
	s.sparkFails("logs pi -e 7", 1, "pi has no executor 7: it has 1")
	s.sparkFails("ui pi", 1, "the port of Pod "+d.Name+" cannot be forwarded")
	s.sparkFails("top pi", 1, "install a metrics server")
	s.sparkFails("get nothing", 1, `there is no application, cluster or schedule "nothing" in the namespace `+s.ns)
	s.sparkFails("get pi --as nobody", 1, "ask for the right")
	s.sparkFails("list --as nobody", 1, "ask for the right")
	d.set(func(status *corev1.PodStatus) {
		kubelet.Ended(status, 137)
		status.ContainerStatuses[0].State.Terminated.Reason = "OOMKilled"
	})
	s.untilState("pi", "TerminatedWithoutReleaseResources")
	s.sparkSays("why pi", string(why.DriverOutOfMemory), "raise spark.driver.memoryOverhead", "an overhead of 384m: a limit of 1408Mi",
		"kubectl spark rerun pi -n "+s.ns+" --set driver.memoryOverhead=1g")
	s.sparkSays("list --state failed", "OOMKilled")
	s.sparkSays("why pi -o json", `"cause": "DriverOutOfMemory"`)
}

// causeOf waits until why names a cause first.
func (s *env) causeOf(name string, want why.Cause) {
	s.Helper()
	said := ""
	deadline := time.Now().Add(timeout)
	for time.Now().Before(deadline) {
		_, out, errOut := s.spark(s.Context(), "why "+name)
		if strings.Contains(out, "\n1. "+string(want)) {
			return
		}
		said = out + errOut
	}
	s.Errorf("the first cause is not %s: %s", want, said)
}

// waits has the containers of a driver wait.
func (d *driver) waits(reason, message string) {
	d.env.Helper()
	d.set(func(status *corev1.PodStatus) {
		status.Phase = corev1.PodPending
		status.ContainerStatuses = []corev1.ContainerStatus{{
			Name: "spark-kubernetes-driver", Image: "spark", ImageID: "", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}},
		}}
	})
}

// hears creates a Kubernetes Event about a driver Pod.
func (d *driver) hears(reason, message string) *corev1.Event {
	d.env.Helper()
	event, err := d.env.Kube.CoreV1().Events(d.env.ns).Create(d.env.Context(), &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{GenerateName: "about-", Namespace: d.env.ns},
		InvolvedObject: corev1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: d.env.ns, Name: d.Name, UID: d.UID},
		Type:           "Warning", Reason: reason, Message: message, LastTimestamp: metav1.Now(),
	}, metav1.CreateOptions{})
	d.env.must(err)
	return event
}

func TestWhyNamesWhatKeepsAPodFromStarting(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	s.create(App("pi"))
	d := s.driver("pi", 0)
	for _, test := range []struct {
		reason, message string
		want            why.Cause
	}{
		{"ErrImagePull", "failed to resolve reference: not found", why.ImageNotFound},
		{"ImagePullBackOff", "pull access denied, 401 Unauthorized", why.ImageForbidden},
		{"InvalidImageName", "couldn't parse image name", why.ImageNameInvalid},
		{"ErrImagePull", "dial tcp: no such host", why.RegistryUnreachable},
		{"ImagePullBackOff", "Back-off", why.ImagePullFailed},
		{"CreateContainerConfigError", `secret "password" not found`, why.SecretMissing},
		{"CreateContainerConfigError", `configmap "settings" not found`, why.ConfigMapMissing},
		{"CreateContainerError", "device is busy", why.ContainerNotCreated},
		{"RunContainerError", "exec format error", why.WrongArchitecture},
		{"RunContainerError", "executable file not found in $PATH", why.ContainerCommandLost},
	} {
		d.waits(test.reason, test.message)
		s.causeOf("pi", test.want)
	}
	d.waits("ContainerCreating", "")
	for _, test := range []struct {
		reason, message string
		want            why.Cause
	}{
		{"FailedMount", `MountVolume.SetUp failed for volume "v" : secret "key" not found`, why.SecretMissing},
		{"FailedMount", `MountVolume.SetUp failed for volume "v" : configmap "conf" not found`, why.ConfigMapMissing},
		{"FailedMount", "timed out waiting for the condition", why.VolumeNotMounted},
		{"FailedAttachVolume", "Multi-Attach error", why.VolumeNotAttached},
		{"FailedCreatePodSandBox", "plugin type=calico", why.PodNetworkFailed},
	} {
		event := d.hears(test.reason, test.message)
		s.causeOf("pi", test.want)
		s.must(s.Kube.CoreV1().Events(s.ns).Delete(t.Context(), event.Name, metav1.DeleteOptions{}))
	}
	s.sparkFails("logs pi", 1, "the log of Pod")
}

func TestWhyGivesTheSchedulersWords(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	s.kubelet.Pause(s.ns)
	s.create(App("pi").Conf("spark.driver.memory", "8g").Conf("spark.driver.cores", "4"))
	s.untilState("pi", "DriverRequested")
	pod, err := s.Kube.CoreV1().Pods(s.ns).Get(t.Context(), "pi-0-driver", metav1.GetOptions{})
	s.must(err)
	for words, want := range map[string]why.Cause{
		"2 Insufficient cpu, 1 node(s) had untolerated taint {a: b}": why.NotEnoughCPU,
		"3 Insufficient memory":                               why.NotEnoughMemory,
		"3 Insufficient nvidia.com/gpu":                       why.NotEnoughOfResource,
		"3 Too many pods":                                     why.NodesFull,
		"3 node(s) had untolerated taint {dedicated: x}":      why.NodesTainted,
		"3 node(s) didn't match Pod's node affinity/selector": why.NodeSelectorNoMatch,
		"3 node(s) didn't match pod anti-affinity rules":      why.PodAffinityNoMatch,
		"3 node(s) had volume node affinity conflict":         why.VolumeElsewhere,
		"3 node(s) were unschedulable":                        why.NodesCordoned,
		"pod has unbound immediate PersistentVolumeClaims":    why.ClaimUnbound,
		`persistentvolumeclaim "data" not found`:              why.ClaimMissing,
	} {
		s.must(kubelet.SetStatus(t.Context(), s.Kube, pod, func(status *corev1.PodStatus) {
			status.Conditions = []corev1.PodCondition{{
				Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: "0/3 nodes are available: " + words + ". preemption: none.",
			}}
		}))
		s.causeOf("pi", want)
	}
}

func TestWhyNamesWhatTheAPIServerRefused(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	s.create(App("account").Conf(namedAccount, "nobody"))
	s.causeOf("account", why.ServiceAccountMissing)
	s.create(App("spec").Conf("spark.driver.memory", "much"))
	s.causeOf("spec", why.SpecRefused)
	s.create(App("held").Suspended())
	s.untilCondition("held", "Succeeded", metav1.ConditionUnknown, "Suspended")
	s.causeOf("held", why.Suspended)
	s.must(labelNamespace(t.Context(), s, "pod-security.kubernetes.io/enforce", "restricted"))
	s.untilRefused("violates PodSecurity", s.creating(plainPod("any"))) // the API server knows the label from a watch
	s.create(App("security"))
	s.causeOf("security", why.PodSecurityViolated)
	s.must(labelNamespace(t.Context(), s, "pod-security.kubernetes.io/enforce", "privileged"))
	s.untilAdmitted(s.creating(plainPod("any")))
	s.limitedTo(corev1.ResourceList{corev1.ResourceLimitsMemory: resource.MustParse("64Mi")})
	s.create(App("quota"))
	s.causeOf("quota", why.QuotaTooSmall)
}

func labelNamespace(ctx context.Context, s *env, key, value string) error {
	_, err := s.Kube.CoreV1().Namespaces().Patch(ctx, s.ns, types.MergePatchType, []byte(fmt.Sprintf(`{"metadata":{"labels":{%q:%q}}}`, key, value)), metav1.PatchOptions{})
	return err
}

func TestWhyNamesHowADriverEnded(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	keep := sparkv1.ApplicationTolerations{ResourceRetainPolicy: sparkv1.RetainAlways}
	for i, test := range []struct {
		end  func(*corev1.PodStatus)
		want why.Cause
	}{
		{func(status *corev1.PodStatus) { kubelet.Ended(status, 101) }, why.MainClassNotFound},
		{func(status *corev1.PodStatus) { kubelet.Ended(status, 52) }, why.DriverHeapTooSmall},
		{func(status *corev1.PodStatus) { kubelet.Ended(status, 11) }, why.ExecutorsLost},
		{func(status *corev1.PodStatus) { kubelet.Ended(status, 3) }, why.DriverExited},
		{kubelet.Evicted, why.Evicted},
		{says("java.lang.OutOfMemoryError: Java heap space"), why.DriverHeapTooSmall},
		{says("java.io.FileNotFoundException: File file:/opt/app.jar does not exist"), why.FileNotFound},
		{says(`Message: pods "pi" is forbidden: User "system:serviceaccount:a:default" cannot get resource "pods" in API group ""`), why.DriverForbidden},
		{says("java.lang.IllegalStateException: no day"), why.ApplicationFailed},
	} {
		name := fmt.Sprintf("end-%d", i)
		s.create(App(name).Tolerations(keep))
		s.driver(name, 0).set(test.end)
		s.untilState(name, "TerminatedWithoutReleaseResources")
		s.causeOf(name, test.want)
	}
}

// says has a driver end with exit code 1 and a termination message.
func says(message string) func(*corev1.PodStatus) {
	return func(status *corev1.PodStatus) {
		kubelet.Ended(status, 1)
		status.ContainerStatuses[0].State.Terminated.Message = message
	}
}

func TestSeeFollowsWhatHappens(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	s.create(App("pi"))
	s.driver("pi", 0)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	events, list := s.follows(ctx, "events", "pi", "-f"), s.follows(ctx, "list", "-w")
	s.run("pi", 0)
	s.untilPrinted(list, "RunningHealthy")
	s.driver("pi", 0).succeed()
	s.untilPrinted(events, "Succeeded", "ResourceReleased")
	s.delete("pi")
	if code := <-events.code; code != 0 { // events end with the object
		t.Errorf("exit code %d:\n%s", code, events)
	}
	s.untilPrinted(list, "Deleted")
	stop()
	if code := <-list.code; code != 0 {
		t.Errorf("exit code %d:\n%s", code, list)
	}
}

// A user who may read applications alone sees them, and is shown what is missing.
func TestSeeWithFewRights(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	s.create(App("pi").Suspended())
	s.untilCondition("pi", "Succeeded", metav1.ConditionUnknown, "Suspended")
	s.serviceAccount("reader")
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "reader"}, Rules: []rbacv1.PolicyRule{{
		APIGroups: []string{"spark.apache.org"}, Resources: []string{"sparkapplications"}, Verbs: []string{"get", "list"},
	}}}
	_, err := s.Kube.RbacV1().Roles(s.ns).Create(t.Context(), role, metav1.CreateOptions{})
	s.must(err)
	_, err = s.Kube.RbacV1().RoleBindings(s.ns).Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "reader"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "reader"},
		Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Name: "reader", Namespace: s.ns}},
	}, metav1.CreateOptions{})
	s.must(err)
	s.untilRightsAreKnown()
	as := " --as system:serviceaccount:" + s.ns + ":reader"
	s.sparkSays("list"+as, "pi", "Suspended")
	s.sparkSays("why pi"+as, string(why.Suspended), "kubectl spark resume pi -n "+s.ns)
	s.sparkSays("get pi"+as, "Suspended")
}
