package why_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/diagnosis"
	"github.com/firesteel-dev/firesteel/pkg/diagnosis/why"
	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/outbox"
	"github.com/firesteel-dev/firesteel/pkg/quota"
	"github.com/firesteel-dev/firesteel/pkg/redact"
	"github.com/firesteel-dev/firesteel/test/harness/golden"
)

var now = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func ago(d time.Duration) metav1.Time { return metav1.NewTime(now.Add(-d)) }

// facts are those of an application with a record in a state.
func facts(states ...lifecycle.State) why.Facts {
	f := why.Facts{
		Now: now, Namespace: "reports", Name: "etl", Created: now.Add(-10 * time.Minute), MainClass: "com.example.Etl", ServiceAccount: "spark",
		Properties: map[string]string{"spark.driver.memory": "2g", "spark.executor.memory": "4g", "spark.executor.cores": "4", "spark.driver.cores": "2"},
		Grant:      "kubectl -n reports create rolebinding spark-driver-spark --clusterrole=spark-driver --serviceaccount=reports:spark",
	}
	if len(states) == 0 {
		return f
	}
	f.Record = &v1alpha1.Record{Launch: &v1alpha1.Launch{DriverPod: "etl-0-driver"}}
	for i, state := range states {
		if state == lifecycle.ScheduledToRestart {
			f.Record.Attempt.ID++
		}
		outbox.Append(f.Record, v1alpha1.Transition{State: string(state), Message: string(state) + "."}, now.Add(-time.Duration(len(states)-i)*time.Minute))
	}
	f.Shown = string(states[len(states)-1])
	return f
}

// ended are the facts of an application whose attempt ended.
func ended(state lifecycle.State, end v1alpha1.AttemptEnd) why.Facts {
	f := facts(lifecycle.DriverRequested, state, lifecycle.TerminatedWithoutReleaseResources)
	end.Outcome = v1alpha1.OutcomeFailed
	f.Record.Transitions[1].End = &end
	f.Record.Transitions[2].Outcome = v1alpha1.OutcomeFailed
	return f
}

// exited are those of a driver that left a log.
func exited(code int32, log ...string) why.Facts {
	f := ended(lifecycle.Failed, v1alpha1.AttemptEnd{
		Class: "application", ExitCode: &code, Reason: "Error",
		Message: fmt.Sprintf("Driver has one or more failed critical container(s): spark-kubernetes-driver exited with code %d (Error).", code),
	})
	f.Log = strings.Join(log, "\n")
	return f
}

func condition(kind string, status metav1.ConditionStatus, reason, message string) metav1.Condition {
	return metav1.Condition{Type: kind, Status: status, Reason: reason, Message: message, LastTransitionTime: ago(3 * time.Minute)}
}

// held are the facts of an application that an explanation keeps from its launch.
func held(state lifecycle.State, e diagnosis.Explanation) why.Facts {
	f := facts(state)
	f.Conditions = []metav1.Condition{e.Condition("Succeeded")}
	f.Conditions[0].LastTransitionTime, f.Conditions[0].Status = ago(3*time.Minute), metav1.ConditionUnknown
	return f
}

// pod is a Pod that waits.
func pod(name, container string, change func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "reports", Name: name, CreationTimestamp: ago(5 * time.Minute), Labels: map[string]string{"spark-exec-id": "1"}},
		Spec: corev1.PodSpec{NodeName: "node-1", SchedulerName: "default-scheduler", Containers: []corev1.Container{{
			Name: container, Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("2432Mi")}},
		}}},
		Status: corev1.PodStatus{Phase: corev1.PodPending},
	}
	change(p)
	return p
}

func withDriver(f why.Facts, change func(*corev1.Pod)) why.Facts {
	f.Driver = pod("etl-0-driver", "spark-kubernetes-driver", change)
	return f
}

// waiting are the facts of a driver that waits.
func waiting(change func(*corev1.Pod)) why.Facts {
	return withDriver(facts(lifecycle.DriverRequested), change)
}

func unscheduled(message string) why.Facts {
	return waiting(func(p *corev1.Pod) {
		p.Spec.NodeName = ""
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: message}}
	})
}

func containerWaits(reason, message string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{
			Name: p.Spec.Containers[0].Name, Image: "registry.example.com/spark:4", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}},
		}}
	}
}

func containerEnds(code int32, reason string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.Phase = corev1.PodFailed
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{
			Name: p.Spec.Containers[0].Name, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason}},
		}}
	}
}

func prepared(reason, message string) why.Facts {
	f := waiting(func(*corev1.Pod) {})
	f.Events = []corev1.Event{event("Pod", "etl-0-driver", reason, message)}
	return f
}

func event(kind, name, reason, message string) corev1.Event {
	return corev1.Event{
		InvolvedObject: corev1.ObjectReference{Kind: kind, Name: name}, Reason: reason, Message: message, LastTimestamp: ago(20 * time.Second),
	}
}

// runs are the facts of an application whose driver runs, with executors.
func runs(executors ...*corev1.Pod) why.Facts {
	f := withDriver(facts(lifecycle.DriverRequested, lifecycle.DriverStarted, lifecycle.DriverReady), func(p *corev1.Pod) {
		p.Status.Phase = corev1.PodRunning
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{
			Name: "spark-kubernetes-driver", Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: ago(time.Minute)}},
		}}
	})
	f.Executors = executors
	return f
}

func executor(name string, change func(*corev1.Pod)) *corev1.Pod {
	return pod(name, "spark-kubernetes-executor", change)
}

func logged(f why.Facts, lines ...string) why.Facts {
	f.Log = strings.Join(lines, "\n")
	return f
}

func with(f why.Facts, change func(*why.Facts)) why.Facts {
	change(&f)
	return f
}

func elsewhere(f why.Facts) why.Facts {
	f.Inherited, f.StatusWriter, f.Conditions = true, "spark-operator", nil
	return f
}

const apiCall = "26/01/01 11:59:00 ERROR SparkContext: Error initializing SparkContext.\nCaused by: io.fabric8.kubernetes.client.KubernetesClientException: " +
	"Failure executing: POST at: https://kubernetes.default.svc/api/v1/namespaces/reports/pods. Message: %s. Received status: Status(apiVersion=v1, code=403)."

type example struct {
	name  string
	cause why.Cause
	facts why.Facts
}

func lacks() quota.Decision {
	return quota.Decision{Lacks: []quota.Lack{{Quota: "q"}}, Place: 2, Queue: 5}
}

// waits are examples of applications that wait, or that no operator serves.
func waits() []example {
	return []example{
		{"no status", why.NotPickedUp, facts()},
		{"no status, and a spec that is refused", why.SpecRefused, with(facts(), func(f *why.Facts) {
			f.Invalid = finding.List{{Field: "spec.driver.memory", Value: "1.5g", Message: "is no size", Remedy: "write one such as 1536m"}}
		})},
		{"the other operator's, and healthy", why.OtherOperatorRuns, elsewhere(runs())},
		{"two operators", why.OtherOperatorRuns, held(lifecycle.RunningHealthy, diagnosis.AnotherOperatorActive(time.Minute, now))},
		{"another operator's status that cannot be understood", why.NotServed, with(facts(), func(f *why.Facts) { f.Shown = "ODD" })},
		{"a record of a newer version", why.NotServed, held(lifecycle.RunningHealthy, diagnosis.NewerFormat(9))},
		{"suspended", why.Suspended, held(lifecycle.Submitted, diagnosis.Explanation{Status: "Unknown", Reason: "Suspended", Summary: "The launch is held by spec.suspend."})},
		{"suspended, and no status", why.Suspended, with(facts(), func(f *why.Facts) { f.Suspended = true })},
		{"the user's driver", why.AwaitsUserDriver, held(lifecycle.Submitted, diagnosis.AwaitsUserDriver("spark-operator.k8s.io/appId", "etl-1", ""))},
		{"held for a quota", why.HeldByQuota, held(lifecycle.Submitted, diagnosis.WaitingForQuota("reports", lacks()))},
		{"more than a quota has", why.QuotaTooSmall, ended(lifecycle.SchedulingFailure, v1alpha1.AttemptEnd{
			Class: "scheduling", Reason: "QuotaWouldBeExceeded", Message: `failed to validate resource quota "reports/q": SparkApplication reports/etl requests 3. Raise the quota, or ask for less.`,
		})},
		{"refused for a quota", why.QuotaTooSmall, ended(lifecycle.SchedulingFailure, v1alpha1.AttemptEnd{
			Class: "scheduling", Reason: "QuotaExceeded", Message: `Pod reports/etl-0-driver was refused: pods "etl-0-driver" is forbidden: exceeded quota: q, ` +
				`requested: limits.memory=2432Mi, used: limits.memory=0, limited: limits.memory=1Gi; raise the quota, or have the application ask for less`,
		})},
		{"executors refused for a quota", why.QuotaRefusesExecutors, held(lifecycle.RunningHealthy, diagnosis.ExecutorsExceedQuota("reports", lacks().Lacks))},
		{"executors refused for a quota, by the driver's log", why.QuotaRefusesExecutors, elsewhere(logged(runs(), strings.Split(fmt.Sprintf(apiCall,
			`pods "etl-exec-1" is forbidden: exceeded quota: q, requested: cpu=4, used: cpu=2, limited: cpu=4`), "\n")...))},
		{"back-off", why.BackOff, with(facts(lifecycle.DriverRequested, lifecycle.Failed, lifecycle.ScheduledToRestart), func(f *why.Facts) {
			f.Record.Transitions[1].End = &v1alpha1.AttemptEnd{Outcome: "Failed", Class: "application", ExitCode: ptr.To(int32(1)), Reason: "Error", RestartAllowed: true, Message: "It exited with code 1 (Error)."}
			at := metav1.NewMicroTime(now.Add(40 * time.Second))
			f.Record.Verdict = &v1alpha1.Verdict{Restart: true, NotBefore: &at}
			f.Conditions = []metav1.Condition{condition("Succeeded", "Unknown", "ScheduledToRestart", "Attempt 1 starts at 2026-01-01T12:00:40Z.")}
		})},
		{"a handler that does not answer", why.HandlerSilent, with(facts(lifecycle.Failed), func(f *why.Facts) {
			f.Conditions = []metav1.Condition{condition("HandlerAnswered", "False", "NoAnswer", diagnosis.SilentHandler("restart").Message())}
		})},
		{"events that no sink takes", why.EventsUndelivered, with(facts(lifecycle.RunningHealthy), func(f *why.Facts) {
			f.Conditions = []metav1.Condition{condition("EventsDelivered", "False", "SinkUnavailable", "Events wait for the sink: 503")}
		})},
		{"a name that is not free", why.NameNotFree, held(lifecycle.Submitted, diagnosis.NameNotFree("Service reports/etl-ui-svc", nil))},
		{"a name that another object has", why.NameNotFree, ended(lifecycle.SchedulingFailure, v1alpha1.AttemptEnd{
			Class: "scheduling", Reason: "NameTaken",
			Message: "Service reports/etl-ui-svc was refused: it exists already and belongs to another creator: it has no owner reference; rename it or the application, or delete the object with the name",
		})},
		{"an earlier driver that does not go", why.EarlierDriver, held(lifecycle.Submitted, diagnosis.EarlierDriverTerminating(&lifecycle.Driver{Name: "etl-0-driver", Node: "node-1"}))},
		{"a driver that does not go", why.EarlierDriver, waiting(func(p *corev1.Pod) {
			p.DeletionTimestamp, p.DeletionGracePeriodSeconds = ptr.To(ago(time.Minute)), ptr.To(int64(30))
		})},
		{"a pod template that cannot be read", why.TemplateUnavailable, held(lifecycle.Submitted, diagnosis.PodTemplateUnavailable(finding.List{{
			Field: "spec.sparkConf[spark.kubernetes.driver.podTemplateFile]", Value: "https://x/t.yaml", Message: "does not answer", Remedy: "see that server",
		}}))},
		{"an invalid spec", why.SpecRefused, ended(lifecycle.Failed, v1alpha1.AttemptEnd{
			Class: "application", Reason: "InvalidSpec", Message: `spec.driver.memory "1.5g" is no size: write one such as 1536m.`,
		})},
		{"edited too late", why.EditedTooLate, with(facts(lifecycle.RunningHealthy), func(f *why.Facts) {
			f.Warnings = finding.List{{Severity: finding.Warning, Field: "spec", Text: "The spec was edited after the launch: only another attempt runs with the edit.", Remedy: "If no attempt follows, delete the application and apply it again"}}
		})},
		{"suspended too late", why.EditedTooLate, with(facts(lifecycle.RunningHealthy), func(f *why.Facts) {
			f.Warnings = finding.List{{Severity: finding.Warning, Field: "spec.suspend", Message: "does nothing to the attempt that runs", Remedy: "it holds the next one"}}
		})},
		{"a field without effect", why.SpecNotHonored, with(facts(lifecycle.RunningHealthy), func(f *why.Facts) {
			f.Conditions = []metav1.Condition{condition("Warning", "True", "SpecNotHonored", "spec.x has no effect.")}
		})},
		{"labels of the driver that somebody changed", why.DriverLabelsChanged, with(facts(lifecycle.RunningHealthy), func(f *why.Facts) {
			e := diagnosis.DriverLabelsChanged("reports", "etl-0-driver", []string{"spark-role is missing"}, []string{"spark-role=driver"})
			f.Conditions = []metav1.Condition{condition("DriverLabelsChanged", e.Status, e.Reason, e.Message())}
		})},
		{"a deletion that waits", why.BeingDeleted, with(facts(lifecycle.RunningHealthy), func(f *why.Facts) {
			f.Deleted = true
			f.Events = []corev1.Event{event("SparkApplication", "etl", "EventsUndelivered", "The deletion waits for the sink to take 3 event(s), at most 5m0s: 503")}
		})},
		{"stopped by a user", why.Stopped, ended(lifecycle.Failed, v1alpha1.AttemptEnd{Class: "stopped", Reason: "Stopped", Message: "The application was stopped: wrong day (by anna)."})},
	}
}

// refusals are examples of what the API server refused.
func refusals() []example {
	refused := func(reason, words string) why.Facts {
		return ended(lifecycle.SchedulingFailure, v1alpha1.AttemptEnd{Class: "scheduling", Reason: reason, Message: "Pod reports/etl-0-driver was refused: " + words})
	}
	return []example{
		{"Pod security", why.PodSecurityViolated, refused("Forbidden", `pods "etl-0-driver" is forbidden: violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false`)},
		{"a webhook that refuses", why.WebhookRefused, refused("Refused", `admission webhook "images.example.com" denied the request: image spark is not signed`)},
		{"a webhook that does not answer", why.WebhookUnavailable, with(facts(lifecycle.Submitted), func(f *why.Facts) {
			f.Events = []corev1.Event{event("SparkApplication", "etl", "WebhookFailed", diagnosis.WebhookFailed("w.example.com").Message())}
		})},
		{"a webhook that does not answer, by the other operator", why.WebhookUnavailable, elsewhere(refused("", `Internal error occurred: failed calling webhook "mutate--v1-pod.sparkoperator.k8s.io": no endpoints`))},
		{"a service account that does not exist", why.ServiceAccountMissing, refused("ServiceAccountNotFound", `pods "etl-0-driver" is forbidden: error looking up service account reports/spark: serviceaccount "spark" not found`)},
		{"a namespace that is gone", why.NamespaceMissing, refused("NotFound", `namespaces "reports" not found`)},
		{"an object that is refused", why.ObjectRefused, refused("Invalid", `Pod "etl-0-driver" is invalid: spec.containers[0].name: Invalid value: "A"; correct the field that causes it`)},
		{"a right of the operator", why.ObjectRefused, refused("Forbidden", `pods is forbidden: User "system:serviceaccount:firesteel-system:controller" cannot create resource "pods" in API group "" in the namespace "reports"`)},
		{"a driver that may not make executors", why.DriverForbidden, logged(runs(), strings.Split(fmt.Sprintf(apiCall,
			`pods "etl-exec-1" is forbidden: User "system:serviceaccount:reports:default" cannot create resource "pods" in API group "" in the namespace "reports"`), "\n")...)},
		{"a driver that failed since it may not read Pods", why.DriverForbidden, exited(1, strings.Split(fmt.Sprintf(apiCall,
			`pods "etl-0-driver" is forbidden: User "system:serviceaccount:reports:default" cannot get resource "pods" in API group "" in the namespace "reports"`), "\n")...)},
	}
}

// pods are examples of Pods that do not start.
func pods() []example {
	const nodes = "0/3 nodes are available: "
	return []example{
		{"not enough CPU", why.NotEnoughCPU, unscheduled(nodes + "1 node(s) had untolerated taint {a: b}, 2 Insufficient cpu. preemption: 0/3 nodes are available: 3 No preemption victims found.")},
		{"not enough memory", why.NotEnoughMemory, unscheduled(nodes + "3 Insufficient memory.")},
		{"no GPU", why.NotEnoughOfResource, unscheduled(nodes + "3 Insufficient nvidia.com/gpu.")},
		{"not enough memory, and no right to read Pods", why.NotEnoughMemory, held(lifecycle.DriverRequested, diagnosis.Explanation{
			Reason: "Unschedulable", Summary: "Driver Pod cannot be scheduled: Insufficient memory.",
		})},
		{"an image, and no right to read Pods", why.ImagePullFailed, held(lifecycle.DriverRequested, diagnosis.Explanation{
			Reason: "ImagePullFailed", Summary: `Image "x" of container c cannot be pulled; correct the image's name or its pull secret.`,
		})},
		{"an obstacle that is not known here", "QueueClosed", held(lifecycle.DriverRequested, diagnosis.Explanation{Reason: "QueueClosed", Summary: "The queue is closed."})},
		{"full nodes", why.NodesFull, unscheduled(nodes + "3 Too many pods.")},
		{"taints", why.NodesTainted, unscheduled(nodes + "3 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }.")},
		{"a node selector", why.NodeSelectorNoMatch, unscheduled(nodes + "3 node(s) didn't match Pod's node affinity/selector.")},
		{"an affinity of Pods", why.PodAffinityNoMatch, unscheduled(nodes + "3 node(s) didn't match pod anti-affinity rules.")},
		{"cordoned nodes", why.NodesCordoned, unscheduled(nodes + "3 node(s) were unschedulable.")},
		{"a volume elsewhere", why.VolumeElsewhere, unscheduled(nodes + "3 node(s) had volume node affinity conflict.")},
		{"a claim without a volume", why.ClaimUnbound, unscheduled(nodes + "pod has unbound immediate PersistentVolumeClaims. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.")},
		{"a claim that does not exist", why.ClaimMissing, unscheduled(nodes + `persistentvolumeclaim "data" not found.`)},
		{"a reason that only the scheduler knows", why.Unschedulable, unscheduled("the cluster is asleep")},
		{"a scheduling gate", why.SchedulingGated, waiting(func(p *corev1.Pod) {
			p.Spec.NodeName, p.Spec.SchedulingGates = "", []corev1.PodSchedulingGate{{Name: "kueue.x-k8s.io/admission"}}
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonSchedulingGated}}
		})},
		{"no scheduler", why.NoScheduler, waiting(func(p *corev1.Pod) { p.Spec.NodeName, p.Spec.SchedulerName = "", "volcano" })},
		{"an image that does not exist", why.ImageNotFound, waiting(containerWaits("ErrImagePull", `rpc error: code = NotFound desc = failed to pull and unpack image: registry.example.com/spark:4: not found`))},
		{"an image that may not be read", why.ImageForbidden, with(waiting(containerWaits("ImagePullBackOff", "Back-off pulling image")), func(f *why.Facts) {
			f.Events = []corev1.Event{event("Pod", "etl-0-driver", "Failed", `Failed to pull image "registry.example.com/spark:4": 401 Unauthorized`)}
		})},
		{"an image whose name is none", why.ImageNameInvalid, waiting(containerWaits("InvalidImageName", `Failed to apply default image tag "Spark:4:x": couldn't parse image name`))},
		{"a registry that does not answer", why.RegistryUnreachable, waiting(containerWaits("ErrImagePull", "dial tcp: lookup registry.example.com: no such host"))},
		{"an image for a reason unknown", why.ImagePullFailed, waiting(containerWaits("ImagePullBackOff", "Back-off pulling image"))},
		{"a Secret that does not exist", why.SecretMissing, waiting(containerWaits("CreateContainerConfigError", `secret "password" not found`))},
		{"a key of a ConfigMap that does not exist", why.ConfigMapMissing, waiting(containerWaits("CreateContainerConfigError", `couldn't find key x in ConfigMap reports/settings`))},
		{"a Secret of a volume that does not exist", why.SecretMissing, prepared("FailedMount", `MountVolume.SetUp failed for volume "key" : secret "gcp-key" not found`)},
		{"a ConfigMap of a volume that does not exist", why.ConfigMapMissing, prepared("FailedMount", `MountVolume.SetUp failed for volume "conf" : configmap "spark-conf" not found`)},
		{"a container that cannot be created", why.ContainerNotCreated, waiting(containerWaits("CreateContainerError", "device is busy"))},
		{"a sidecar that ends again and again", why.ContainerNotCreated, waiting(containerWaits("CrashLoopBackOff", "back-off 5m0s restarting failed container"))},
		{"a container of another architecture", why.WrongArchitecture, waiting(containerWaits("RunContainerError", "exec /opt/entrypoint.sh: exec format error"))},
		{"a container without its command", why.ContainerCommandLost, waiting(containerWaits("RunContainerError", `exec: "driver": executable file not found in $PATH`))},
		{"a volume that is not attached", why.VolumeNotAttached, prepared("FailedAttachVolume", "Multi-Attach error for volume pvc-1")},
		{"a volume that is not mounted", why.VolumeNotMounted, prepared("FailedMount", "Unable to attach or mount volumes: timed out waiting for the condition")},
		{"no network", why.PodNetworkFailed, prepared("FailedCreatePodSandBox", "failed to setup network for sandbox: plugin type=calico")},
		{"a node that takes its time", why.PodPreparing, waiting(func(p *corev1.Pod) {
			p.Status.Conditions = []corev1.PodCondition{
				{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: ago(4 * time.Minute)},
				{Type: corev1.PodReadyToStartContainers, Status: corev1.ConditionFalse},
			}
		})},
		{"a driver that is not ready", why.DriverNotReady, with(runs(), func(f *why.Facts) {
			f.Record.Transitions = f.Record.Transitions[:2]
			f.Driver.Status.Conditions, f.Driver.Status.ContainerStatuses[0].Ready = nil, false
			f.Driver.Status.ContainerStatuses = append(f.Driver.Status.ContainerStatuses, corev1.ContainerStatus{Name: "sidecar", Ready: true})
			f.MainContainer = ""
			f.Driver.Status.ContainerStatuses[0].Ready = true
			f.Driver.Status.ContainerStatuses[1] = corev1.ContainerStatus{Name: "sidecar", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: ago(time.Minute)}}}
		})},
		{"a node that is silent", why.NodeSilent, waiting(func(p *corev1.Pod) { p.Status.Phase, p.Status.Reason = corev1.PodUnknown, "NodeLost" })},
	}
}

// ends are examples of attempts that failed.
func ends() []example {
	lost := func(class, reason, message string) why.Facts {
		return ended(lifecycle.Failed, v1alpha1.AttemptEnd{Class: class, Reason: reason, Message: message})
	}
	oom := ended(lifecycle.Failed, v1alpha1.AttemptEnd{
		Class: "application", ExitCode: ptr.To(int32(137)), Reason: "OOMKilled",
		Message: "Driver has one or more failed critical container(s): spark-kubernetes-driver exited with code 137 (OOMKilled). " +
			"It used more memory than its limit: raise spark.driver.memoryOverhead, or spark.driver.memory.",
	})
	return []example{
		{"out of memory", why.DriverOutOfMemory, withDriver(oom, containerEnds(137, "OOMKilled"))},
		{"out of memory, and no Pod", why.DriverOutOfMemory, oom},
		{"out of memory under the other operator", why.DriverOutOfMemory, withDriver(elsewhere(ended(lifecycle.Failed, v1alpha1.AttemptEnd{
			Message: "driver container failed with ExitCode: 137, Reason: OOMKilled",
		})), containerEnds(137, "OOMKilled"))},
		{"a heap that is too small", why.DriverHeapTooSmall, exited(1, `Exception in thread "main" java.lang.OutOfMemoryError: Java heap space`, "\tat com.example.Etl.main(Etl.java:1)")},
		{"a heap that is too small, by its exit code", why.DriverHeapTooSmall, exited(52)},
		{"memory outside of the heap", why.DriverOutOfMemory, exited(1, `Exception in thread "main" java.lang.OutOfMemoryError: Metaspace`)},
		{"evicted", why.Evicted, ended(lifecycle.DriverEvicted, v1alpha1.AttemptEnd{Class: "eviction", Reason: "Evicted", Message: "The node was low on resource: ephemeral-storage."})},
		{"drained", why.Evicted, lost("eviction", "EvictionByEvictionAPI", "The cluster removed the driver Pod: Eviction API: evicting")},
		{"preempted", why.Preempted, lost("eviction", "PreemptionByScheduler", "The cluster removed the driver Pod: default-scheduler: preempting to accommodate a higher priority pod")},
		{"a node that is lost", why.NodeLost, lost("infrastructure", "NodeLost", "The driver Pod was deleted and does not disappear.")},
		{"a node that shuts down", why.NodeStopped, lost("infrastructure", "Terminated", "Pod was terminated in response to imminent node shutdown.")},
		{"a driver that somebody deleted", why.DriverDeleted, lost("infrastructure", "DriverDeleted", "Another client deleted the driver Pod.")},
		{"a driver that vanished", why.DriverDeleted, lost("infrastructure", "DriverLost", "Driver removed.")},
		{"the active deadline", why.DeadlineExceeded, lost("timeout", "ActiveDeadlineExceeded", "The application was active for longer than 1h.")},
		{"a start that took too long", why.StartTimedOut, ended(lifecycle.DriverReadyTimedOut, v1alpha1.AttemptEnd{
			Class: "timeout", Reason: "DriverReadyTimedOut", Message: "The driver has not responded to the initial health check request within the allotted start-up time.",
		})},
		{"a start that took too long for an image", why.ImagePullFailed, ended(lifecycle.DriverStartTimedOut, v1alpha1.AttemptEnd{
			Class: "timeout", Reason: "ImagePullFailed", Message: `The driver has not responded to the initial health check request within the allotted start-up time. Image "x" of container c cannot be pulled; correct the image's name or its pull secret.`,
		})},
		{"a start that took too long for room", why.NotEnoughMemory, ended(lifecycle.DriverStartTimedOut, v1alpha1.AttemptEnd{
			Class: "timeout", Reason: "Unschedulable", Message: "The driver has not responded in time. Driver Pod cannot be scheduled: Insufficient memory.",
		})},
		{"an exit code", why.DriverExited, exited(3)},
		{"a JVM that crashed", why.JVMCrashed, exited(134)},
		{"an earlier attempt", why.EarlierAttempt, with(facts(lifecycle.DriverRequested, lifecycle.Failed, lifecycle.ScheduledToRestart, lifecycle.RunningHealthy), func(f *why.Facts) {
			f.Record.Transitions[1].End = &v1alpha1.AttemptEnd{Outcome: "Failed", Reason: "Error", Message: "It exited with code 1 (Error).", RestartAllowed: true}
		})},
		{"an exception", why.ApplicationFailed, exited(1,
			`Exception in thread "main" org.apache.spark.sql.AnalysisException: [UNRESOLVED_COLUMN] day cannot be resolved`, "\tat com.example.Etl.main(Etl.java:1)",
			"Caused by: java.lang.IllegalStateException: password=hunter2 of day 32", "\t... 1 more")},
		{"an exception in the termination message of the other operator's driver", why.ApplicationFailed, withDriver(elsewhere(ended(lifecycle.Failed, v1alpha1.AttemptEnd{
			Message: "driver container failed with ExitCode: 1, Reason: Error",
		})), func(p *corev1.Pod) {
			containerEnds(1, "Error")(p)
			p.Status.ContainerStatuses[0].State.Terminated.Message = "ValueError: bad day"
		})},
	}
}

// logs are examples of drivers whose log shows why they failed.
func logs() []example {
	return []example{
		{"a main class that does not exist", why.MainClassNotFound, exited(101, "Error: Failed to load class com.example.Etl.")},
		{"a main class that is not in the jar", why.MainClassNotFound, exited(1, `Exception in thread "main" java.lang.ClassNotFoundException: com.example.Etl`)},
		{"a class that does not exist", why.ClassNotFound, exited(1, `Exception in thread "main" java.lang.NoClassDefFoundError: org/postgresql/Driver`)},
		{"a data source that does not exist", why.ClassNotFound, exited(1, "org.apache.spark.SparkClassNotFoundException: [DATA_SOURCE_NOT_FOUND] Failed to find the data source: kafka.")},
		{"a file system without library", why.FileSystemMissing, exited(1, "java.lang.RuntimeException: java.lang.ClassNotFoundException: Class org.apache.hadoop.fs.s3a.S3AFileSystem not found")},
		{"libraries of two versions", why.LibraryConflict, exited(1, `Exception in thread "main" java.lang.NoSuchMethodError: 'scala.collection.immutable.Seq'`)},
		{"a Java that is too old", why.JavaTooOld, exited(1, "java.lang.UnsupportedClassVersionError: com/example/Etl has been compiled by a more recent version of the Java Runtime")},
		{"a Python module that does not exist", why.PythonModuleMissing, exited(1, "Traceback (most recent call last):", `  File "/app/etl.py", line 1, in <module>`, "ModuleNotFoundError: No module named 'pandas'")},
		{"Pythons of two versions", why.PythonMismatch, exited(1, "pyspark.errors.exceptions.base.PySparkRuntimeError: [PYTHON_VERSION_MISMATCH] Python in worker has different version 3.9")},
		{"a file that does not exist", why.FileNotFound, exited(1, "java.io.FileNotFoundException: File file:/opt/app/etl.jar does not exist")},
		{"a Python file that does not exist", why.FileNotFound, exited(2, "python3: can't open file '/app/etl.py': [Errno 2] No such file or directory")},
		{"a dependency that is not resolved", why.DependencyUnsolved, exited(1, `Exception in thread "main" java.lang.RuntimeException: [unresolved dependency: com.example#lib;1.0: not found]`)},
		{"no right to a bucket", why.AccessDenied, exited(1, "java.nio.file.AccessDeniedException: s3a://bucket/day: Status Code: 403")},
		{"a result that is too large", why.ResultTooLarge, exited(1, "org.apache.spark.SparkException: Job aborted: Total size of serialized results is bigger than spark.driver.maxResultSize (1024.0 MiB)")},
		{"a full disk", why.DiskFull, exited(1, "java.io.IOException: No space left on device")},
		{"a port that is taken", why.PortTaken, exited(1, "java.net.BindException: Address already in use: Service 'sparkDriver' failed")},
		{"a host without address", why.HostUnknown, exited(1, "Caused by: java.net.UnknownHostException: postgres.example")},
		{"a server that does not answer", why.ConnectionFailed, exited(1, "Caused by: java.net.ConnectException: Connection refused (postgres.example:5432)")},
		{"no DNS", why.DNSFailed, exited(1, "Caused by: java.net.UnknownHostException: kubernetes.default.svc: Try again")},
		{"no API server", why.APIUnreachable, exited(1, "Caused by: java.net.ConnectException: Failed to connect to kubernetes.default.svc/10.96.0.1:443")},
		{"executors that end again and again", why.ExecutorsLost, exited(11, "26/01/01 11:59:00 ERROR Max number of executor failures (6) reached")},
		{"executors that end again and again, without a log", why.ExecutorsLost, exited(11)},
		{"executors out of memory", why.ExecutorOutOfMemory, exited(1, "org.apache.spark.SparkException: Job aborted due to stage failure: ExecutorLostFailure (executor 3 exited caused by one of the running tasks) "+
			"Reason: The executor with id 3 exited with exit code 137(SIGKILL, possible container OOM).")},
		{"executors whose heap is too small", why.ExecutorHeapTooSmall, exited(1, "org.apache.spark.SparkException: Job aborted due to stage failure: Lost task 0.3 in stage 1.0 (TID 7) (10.0.0.9 executor 2): java.lang.OutOfMemoryError: Java heap space")},
	}
}

// executors are examples of executors that do not run.
func executors() []example {
	failed := func(name string) *corev1.Pod { return executor(name, containerEnds(1, "Error")) }
	return []example{
		{"executors that are not scheduled", why.NotEnoughCPU, runs(executor("etl-exec-1", func(p *corev1.Pod) {
			p.Spec.NodeName = ""
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: "0/1 nodes are available: 1 Insufficient cpu."}}
		}))},
		{"executors whose image cannot be pulled", why.ImagePullFailed, runs(executor("etl-exec-1", containerWaits("ErrImagePull", "x")), executor("etl-exec-2", containerWaits("ErrImagePull", "x")))},
		{"executors that were killed", why.ExecutorOutOfMemory, runs(executor("etl-exec-1", containerEnds(137, "OOMKilled")))},
		{"executors that gave up", why.ExecutorHeapTooSmall, runs(executor("etl-exec-1", containerEnds(52, "Error")))},
		{"executors that fail", why.ExecutorsLost, runs(failed("etl-exec-1"), failed("etl-exec-2"), failed("etl-exec-3"))},
		{"none was seen", why.NoExecutors, with(runs(), func(f *why.Facts) {
			f.Conditions = []metav1.Condition{condition("Succeeded", "Unknown", "NoExecutors", "The driver runs, and none of its executors was ever seen.")}
		})},
		{"too few, and no right to read Pods", why.TooFewExecutors, with(facts(lifecycle.RunningWithBelowThresholdExecutors), func(f *why.Facts) {
			f.Conditions = []metav1.Condition{condition("ExecutorsReady", "False", "BelowMinimum", "Fewer executors are ready than the 2 of minExecutors.")}
		})},
		{"too few", why.TooFewExecutors, with(runs(), func(f *why.Facts) {
			f.Conditions = []metav1.Condition{condition("ExecutorsReady", "False", "BelowInitial", "Fewer executors are ready than the 2 that are waited for.")}
		})},
	}
}

func examples() []example {
	return slices.Concat(waits(), refusals(), pods(), ends(), logs(), executors())
}

func TestEachCauseIsFoundAndExplained(t *testing.T) {
	var text strings.Builder
	for _, e := range examples() {
		reasons := why.Why(e.facts)
		if len(reasons) == 0 || reasons[0].Cause != e.cause {
			t.Errorf("%s: the first cause of %+v is not %s", e.name, reasons, e.cause)
		}
		fmt.Fprintf(&text, "# %s\n", e.name)
		for _, r := range reasons {
			if r.Evidence == "" || r.Summary == "" && r.Remedy == "" {
				t.Errorf("%s: %s has no evidence, or neither summary nor remedy", e.name, r.Cause)
			}
			fmt.Fprintf(&text, "%s\n  %s\n  %s\n  %s\n", r.Cause, r.Summary, r.Evidence, r.Remedy)
			if command := r.Command("", "etl"); command != "" {
				fmt.Fprintf(&text, "  $ %s\n", command)
			}
		}
		text.WriteString("\n")
	}
	golden.Want(t, "testdata/reasons.golden", text.String())
}

func TestEachNamedCauseHasAnExample(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "causes.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var named []why.Cause
	ast.Inspect(file, func(node ast.Node) bool {
		if literal, ok := node.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			name, err := strconv.Unquote(literal.Value)
			if err != nil {
				t.Fatal(err)
			}
			named = append(named, why.Cause(name))
		}
		return true
	})
	if len(named) < 25 {
		t.Errorf("there are %d causes", len(named))
	}
	for _, cause := range named {
		if !slices.ContainsFunc(examples(), func(e example) bool { return e.cause == cause }) {
			t.Errorf("%s has no example of which it is the first cause", cause)
		}
	}
}

func TestNothingIsSaidOfWhatRunsOrSucceeded(t *testing.T) {
	done := facts(lifecycle.Succeeded, lifecycle.ResourceReleased)
	done.Record.Transitions[0].End = &v1alpha1.AttemptEnd{Outcome: v1alpha1.OutcomeSucceeded}
	done.Log = `Exception in thread "main" java.lang.OutOfMemoryError: Java heap space`
	running := runs(executor("etl-exec-1", func(p *corev1.Pod) { p.Status.Phase = corev1.PodRunning }))
	for name, f := range map[string]why.Facts{"succeeded": done, "runs": running} {
		if reasons := why.Why(f); len(reasons) > 0 {
			t.Errorf("%s: %+v", name, reasons)
		}
	}
}

func TestNoSecretOfTheSpecIsRepeated(t *testing.T) {
	f := exited(1, `Exception in thread "main" java.lang.IllegalStateException: the code 4711-0815 is wrong`)
	f.Redactor = redact.For([]byte(`{"spec":{"sparkConf":{"spark.my.password":"4711-0815"}}}`))
	for _, r := range why.Why(f) {
		if strings.Contains(r.Evidence+r.Summary, "4711-0815") {
			t.Errorf("the secret is shown: %+v", r)
		}
	}
}

func TestHostileTextsAreBounded(t *testing.T) {
	f := exited(1, strings.Repeat("Caused by: a.B.CError: "+strings.Repeat("x", 1000)+"\n", 10_000))
	f.Record.Transitions[1].End.Message = strings.Repeat("m", 1<<20)
	for _, r := range why.Why(f) {
		if len(r.Evidence)+len(r.Summary)+len(r.Remedy) > 4096 {
			t.Errorf("%s has %d bytes", r.Cause, len(r.Evidence)+len(r.Summary))
		}
	}
}

func TestCommandNamesTheNamespaceIfItHasTo(t *testing.T) {
	r := why.Reason{Changes: []why.Change{{Field: "driver.memoryOverhead", Value: "2g"}, {Field: "driver.memory", Value: "4g"}}}
	for namespace, want := range map[string]string{
		"":        "kubectl spark rerun etl --set driver.memoryOverhead=2g --set driver.memory=4g",
		"reports": "kubectl spark rerun etl -n reports --set driver.memoryOverhead=2g --set driver.memory=4g",
	} {
		if got := r.Command(namespace, "etl"); got != want {
			t.Errorf("it is %q, want %q", got, want)
		}
	}
}
