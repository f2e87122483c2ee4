package lifecycle_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	. "github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

func TestObserveDriver(t *testing.T) {
	const (
		main        = "spark-kubernetes-driver"
		raiseMemory = "It used more memory than its limit: raise spark.driver.memoryOverhead, or spark.driver.memory."
	)
	var (
		completed = &End{State: Succeeded, Cause: Cause{Message: "Spark application completed successfully."}}
		podGC     = &Cause{Class: ClassInfrastructure, Reason: "DeletionByPodGC",
			Message: "The cluster removed the driver Pod: PodGC: node no longer exists"}
		preemption = &Cause{Class: ClassEviction, Reason: "PreemptionByScheduler",
			Message: "The cluster removed the driver Pod: default-scheduler: preempting to accommodate a higher priority pod"}
		exitedByZero = &End{State: Succeeded, Cause: Cause{Message: "Driver has critical container(s) exited with 0."}}
	)
	failed := func(class, reason, message string, exitCode *int32) *End {
		return &End{State: Failed, Cause: Cause{Class: class, Reason: reason, Message: message, ExitCode: exitCode}}
	}
	tests := map[string]struct {
		pod  *podBuilder
		main string
		want Driver
	}{
		// ---- starting ----
		"a Pod that the API server has just created has neither phase nor statuses": {
			pod: driverPod(),
		},
		"a pending Pod without container statuses waits for nothing that is known": {
			pod: driverPod().Phase(corev1.PodPending),
		},
		"a container that is created has not started": {
			pod: driverPod().Phase(corev1.PodPending).Container(main, waits("ContainerCreating", "")),
		},
		"a container that runs and is not ready has not started, as in the Apache operator": {
			pod: driverPod().Phase(corev1.PodRunning).Container(main, running),
		},
		"a container that is ready has started": {
			pod:  driverPod().Phase(corev1.PodRunning).Container(main, ready),
			want: Driver{Started: true},
		},
		"any ready container starts the driver if no main container is named": {
			pod:  driverPod().Phase(corev1.PodRunning).Container("sidecar", ready).Container(main, running),
			want: Driver{Started: true},
		},
		"a sidecar that is ready does not start the named main container": {
			pod:  driverPod().Phase(corev1.PodRunning).Container("sidecar", ready).Container(main, running),
			main: main,
		},
		"only the named main container starts the driver": {
			pod:  driverPod().Phase(corev1.PodRunning).Container("sidecar", running).Container(main, ready),
			main: main,
			want: Driver{Started: true},
		},
		"a name that no container has stands for all containers": {
			pod:  driverPod().Phase(corev1.PodRunning).Container(main, ready),
			main: "misspelt",
			want: Driver{Started: true},
		},
		"a running Pod whose condition is true is ready": {
			pod: driverPod().Phase(corev1.PodRunning).
				Condition(corev1.PodReady, corev1.ConditionTrue, "").Container(main, ready),
			want: Driver{Started: true, Ready: true},
		},
		"a running Pod whose condition is false is not ready": {
			pod: driverPod().Phase(corev1.PodRunning).
				Condition(corev1.PodReady, corev1.ConditionFalse, "").Container(main, ready),
			want: Driver{Started: true},
		},
		"a condition alone does not make a pending Pod ready": {
			pod: driverPod().Phase(corev1.PodPending).Condition(corev1.PodReady, corev1.ConditionTrue, ""),
		},
		"another condition does not make a Pod ready": {
			pod: driverPod().Phase(corev1.PodRunning).Condition(corev1.ContainersReady, corev1.ConditionTrue, ""),
		},
		"a Pod whose node is lost is of unknown phase, and has not ended": {
			pod:  driverPod().Phase(corev1.PodUnknown).Container(main, ready),
			want: Driver{Started: true, Unknown: true},
		},
		"a Pod whose node is lost says so, and has not ended": {
			pod:  driverPod().Phase(corev1.PodRunning).Reason("NodeLost", "Node a is unresponsive.").Container(main, ready),
			want: Driver{Started: true, Unknown: true},
		},
		"a Pod that ended has ended, even if its node is lost": {
			pod:  driverPod().Phase(corev1.PodSucceeded).Reason("NodeLost", "").Container(main, exited(0, "Completed")),
			want: Driver{End: completed, Stopped: true},
		},

		// ---- success ----
		"a succeeded phase is success": {
			pod:  driverPod().Phase(corev1.PodSucceeded).Container(main, exited(0, "Completed")),
			want: Driver{End: completed, Stopped: true},
		},
		"a succeeded phase is success without container statuses": {
			pod:  driverPod().Phase(corev1.PodSucceeded),
			want: Driver{End: completed, Stopped: true},
		},
		"the phase comes before a container that had restarted": {
			pod: driverPod().Phase(corev1.PodSucceeded).Container(main, exited(0, "Completed"),
				func(s *corev1.ContainerStatus) { s.RestartCount = 1 }),
			want: Driver{End: completed, Stopped: true},
		},
		"the named main container that exited with 0 succeeds while a sidecar runs on": {
			pod: driverPod().Phase(corev1.PodRunning).
				Container("sidecar", ready).Container(main, exited(0, "Completed")),
			main: main,
			want: Driver{End: exitedByZero, Stopped: true},
		},
		"a sidecar that finished does not end the named main container": {
			pod: driverPod().Phase(corev1.PodRunning).
				Container("sidecar", exited(0, "Completed")).Container(main, ready),
			main: main,
			want: Driver{Started: true},
		},
		"a sidecar that failed does not end the named main container": {
			pod: driverPod().Phase(corev1.PodRunning).
				Container("sidecar", exited(1, "Error")).Container(main, ready),
			main: main,
			want: Driver{Started: true},
		},
		"a sidecar that finished ends the driver, and does not stop it, if no main container is named": {
			pod: driverPod().Phase(corev1.PodRunning).
				Container("sidecar", exited(0, "Completed")).Container(main, ready),
			want: Driver{Started: true, End: exitedByZero},
		},
		"all containers that exited with 0 succeed and have stopped before the phase says so": {
			pod: driverPod().Phase(corev1.PodRunning).
				Container("sidecar", exited(0, "Completed")).Container(main, exited(0, "Completed")),
			want: Driver{End: exitedByZero, Stopped: true},
		},
		"the named main container that exited with 0 succeeds even if a sidecar then fails the Pod": {
			pod: driverPod().Phase(corev1.PodFailed).
				Container("sidecar", exited(143, "Error")).Container(main, exited(0, "Completed")),
			main: main,
			want: Driver{End: exitedByZero, Stopped: true},
		},
		"the named main container that exited with 0 succeeds even if a native sidecar then fails": {
			pod: driverPod().Phase(corev1.PodFailed).
				InitContainer("mesh", exited(143, "Error")).Container(main, exited(0, "Completed")),
			main: main,
			want: Driver{End: exitedByZero, Stopped: true},
		},

		// ---- failure ----
		"a container that exited with an error fails": {
			pod: driverPod().Phase(corev1.PodRunning).Container(main, exited(1, "Error")),
			want: Driver{Stopped: true, End: failed(ClassApplication, "Error",
				"Driver has one or more failed critical container(s): spark-kubernetes-driver exited with code 1 (Error).", ptr.To[int32](1))},
		},
		"a failed phase includes the container's exit code and reason": {
			pod: driverPod().Phase(corev1.PodFailed).Container(main, exited(137, "OOMKilled")),
			want: Driver{Stopped: true, End: failed(ClassApplication, "OOMKilled",
				"Driver has one or more failed critical container(s): spark-kubernetes-driver exited with code 137 (OOMKilled). "+raiseMemory, ptr.To[int32](137))},
		},
		"a container that ended without a reason gets a default reason": {
			pod: driverPod().Phase(corev1.PodFailed).Container(main, exited(2, "")),
			want: Driver{Stopped: true, End: failed(ClassApplication, "Error",
				"Driver has one or more failed critical container(s): spark-kubernetes-driver exited with code 2 (Error).", ptr.To[int32](2))},
		},
		"one failed container of several fails the driver, and does not stop it": {
			pod: driverPod().Phase(corev1.PodRunning).
				Container("sidecar", exited(3, "Error")).Container(main, ready),
			want: Driver{Started: true, End: failed(ClassApplication, "Error",
				"Driver has one or more failed critical container(s): sidecar exited with code 3 (Error).", ptr.To[int32](3))},
		},
		"a failed container takes precedence over one that succeeded": {
			pod: driverPod().Phase(corev1.PodRunning).
				Container("sidecar", exited(0, "Completed")).Container(main, exited(1, "Error")),
			want: Driver{Stopped: true, End: failed(ClassApplication, "Error",
				"Driver has one or more failed critical container(s): spark-kubernetes-driver exited with code 1 (Error).", ptr.To[int32](1))},
		},
		"a container that was restarted fails the driver, and does not stop it": {
			pod: driverPod().Phase(corev1.PodRunning).
				Container(main, restarted(&corev1.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled"})),
			want: Driver{End: failed(ClassApplication, "OOMKilled",
				"Driver has one or more critical container(s) restarted unexpectedly: spark-kubernetes-driver exited with code 137 (OOMKilled). "+raiseMemory,
				ptr.To[int32](137))},
		},
		"a container that was restarted without a trace fails the driver": {
			pod: driverPod().Phase(corev1.PodRunning).Container(main, restarted(nil)),
			want: Driver{End: failed(ClassApplication, "Restarted",
				"Driver has one or more critical container(s) restarted unexpectedly: spark-kubernetes-driver.", nil)},
		},
		"a sidecar that was restarted does not fail the named main container": {
			pod:  driverPod().Phase(corev1.PodRunning).Container("sidecar", restarted(nil)).Container(main, ready),
			main: main,
			want: Driver{Started: true},
		},
		"a failed init container fails the driver": {
			pod: driverPod().Phase(corev1.PodFailed).
				InitContainer("fetch", exited(4, "Error")).Container(main, waits("PodInitializing", "")),
			want: Driver{Stopped: true, End: failed(ClassApplication, "Error",
				"Driver has failed init container(s): fetch exited with code 4 (Error).", ptr.To[int32](4))},
		},
		"an init container that succeeded is not the cause": {
			pod: driverPod().Phase(corev1.PodFailed).
				InitContainer("fetch", exited(0, "Completed")).Container(main, exited(1, "Error")),
			want: Driver{Stopped: true, End: failed(ClassApplication, "Error",
				"Driver has one or more failed critical container(s): spark-kubernetes-driver exited with code 1 (Error).", ptr.To[int32](1))},
		},
		"a native sidecar that failed when it was stopped is not the cause of the driver's failure": {
			pod: driverPod().Phase(corev1.PodFailed).
				InitContainer("mesh", exited(143, "Error")).Container(main, exited(1, "Error")),
			want: Driver{Stopped: true, End: failed(ClassApplication, "Error",
				"Driver has one or more failed critical container(s): spark-kubernetes-driver exited with code 1 (Error).", ptr.To[int32](1))},
		},
		"a Pod that was evicted says so": {
			pod: driverPod().Phase(corev1.PodFailed).Reason("Evicted", "The node was low on memory. ").
				Container(main, exited(143, "Error")),
			want: Driver{Stopped: true, End: &End{State: DriverEvicted, Cause: Cause{
				Class: ClassEviction, Reason: "Evicted", Message: "The node was low on memory."}}},
		},
		"a Pod that was evicted before its containers began, without a message, in lower case": {
			pod: driverPod().Phase(corev1.PodFailed).Reason("evicted", ""),
			want: Driver{Stopped: true, End: &End{State: DriverEvicted, Cause: Cause{
				Class: ClassEviction, Reason: "Evicted", Message: "Driver was evicted."}}},
		},
		"a Pod that was evicted after its main container exited with 0 counts as evicted": {
			pod: driverPod().Phase(corev1.PodFailed).Reason("Evicted", "The node was low on memory.").
				Container(main, exited(0, "Completed")),
			main: main,
			want: Driver{Stopped: true, End: &End{State: DriverEvicted, Cause: Cause{
				Class: ClassEviction, Reason: "Evicted", Message: "The node was low on memory."}}},
		},
		"a reason of eviction without the failed phase ends nothing": {
			pod:  driverPod().Phase(corev1.PodRunning).Reason("Evicted", "").Container(main, ready),
			want: Driver{Started: true},
		},
		"a Pod that failed without container statuses is an infrastructure failure": {
			pod: driverPod().Phase(corev1.PodFailed),
			want: Driver{Stopped: true, End: failed(ClassInfrastructure, "PodFailed",
				"Driver Pod failed before its container ended.", nil)},
		},
		"a Pod that a node refused has the node's reason": {
			pod:  driverPod().Phase(corev1.PodFailed).Reason("UnexpectedAdmissionError", "no device"),
			want: Driver{Stopped: true, End: failed(ClassInfrastructure, "UnexpectedAdmissionError", "no device", nil)},
		},
		"a driver whose Pod exceeded its deadline is a timeout": {
			pod: driverPod().Phase(corev1.PodFailed).Reason("DeadlineExceeded", "Pod was active on the node longer than the specified deadline").
				Container(main, exited(137, "Error")),
			want: Driver{Stopped: true, End: failed(ClassTimeout, "DeadlineExceeded", "Driver has one or more failed critical container(s): "+
				"spark-kubernetes-driver exited with code 137 (Error). Pod was active on the node longer than the specified deadline",
				ptr.To[int32](137))},
		},
		"a driver whose Pod exceeded its deadline before it started is a timeout": {
			pod: driverPod().Phase(corev1.PodFailed).Reason("DeadlineExceeded", "Pod was active on the node longer than the specified deadline"),
			want: Driver{Stopped: true, End: failed(ClassTimeout, "DeadlineExceeded",
				"Pod was active on the node longer than the specified deadline", nil)},
		},
		"a driver that its node stopped has that cause, whatever its exit code": {
			pod: driverPod().Phase(corev1.PodFailed).Reason("Terminated", "Pod was terminated in response to imminent node shutdown.").
				Container(main, exited(1, "Error")),
			want: Driver{Stopped: true, End: failed(ClassInfrastructure, "Terminated", "Driver has one or more failed critical container(s): "+
				"spark-kubernetes-driver exited with code 1 (Error). Pod was terminated in response to imminent node shutdown.",
				ptr.To[int32](1))},
		},
		"a main container that exited with 0 because its node shut down did not succeed": {
			pod: driverPod().Phase(corev1.PodFailed).Reason("Terminated", "Pod was terminated in response to imminent node shutdown.").
				Container(main, exited(0, "Completed")),
			main: main,
			want: Driver{Stopped: true, End: failed(ClassInfrastructure, "Terminated",
				"Pod was terminated in response to imminent node shutdown.", nil)},
		},

		"a Pod whose node is gone is an infrastructure failure": {
			pod: driverPod().Phase(corev1.PodFailed).Condition(corev1.DisruptionTarget, corev1.ConditionTrue, "DeletionByPodGC").
				Saying("PodGC: node no longer exists").Container(main, ready),
			want: Driver{Started: true, Stopped: true, Disruption: podGC, End: &End{State: Failed, Cause: *podGC}},
		},
		"a driver that was preempted has that cause": {
			pod: driverPod().Phase(corev1.PodFailed).Condition(corev1.DisruptionTarget, corev1.ConditionTrue, "PreemptionByScheduler").
				Saying("default-scheduler: preempting to accommodate a higher priority pod").Container(main, exited(143, "Error")),
			want: Driver{Stopped: true, Disruption: preemption, End: failed(ClassEviction, "PreemptionByScheduler",
				"Driver has one or more failed critical container(s): spark-kubernetes-driver exited with code 143 (Error). "+preemption.Message,
				ptr.To[int32](143))},
		},
		"a driver whose Pod was deleted from outside has that cause": {
			pod: driverPod().Phase(corev1.PodFailed).Container(main, exited(143, "Error")).Terminating(at(time.Minute), 30),
			want: Driver{Stopped: true, Terminating: true, TerminatingSince: at(time.Minute), TerminatingUntil: at(90 * time.Second),
				End: failed(ClassInfrastructure, "DriverDeleted", "Driver has one or more failed critical container(s): "+
					"spark-kubernetes-driver exited with code 143 (Error). Another client deleted the driver Pod.", ptr.To[int32](143))},
		},
		"a driver that is an application failure before it was disrupted is an application failure": {
			pod: driverPod().Phase(corev1.PodFailed).Condition(corev1.DisruptionTarget, corev1.ConditionTrue, "PreemptionByScheduler").
				Saying("default-scheduler: preempting to accommodate a higher priority pod").Container(main, exited(1, "Error")),
			want: Driver{Stopped: true, Disruption: preemption, End: failed(ClassApplication, "Error",
				"Driver has one or more failed critical container(s): spark-kubernetes-driver exited with code 1 (Error).", ptr.To[int32](1))},
		},
		"a disruption without a reason gets a default reason": {
			pod: driverPod().Phase(corev1.PodRunning).Condition(corev1.DisruptionTarget, corev1.ConditionTrue, ""),
			want: Driver{Disruption: &Cause{Class: ClassEviction, Reason: "Disrupted",
				Message: "The cluster removed the driver Pod."}},
		},
		"a disruption condition that is false is ignored": {
			pod: driverPod().Phase(corev1.PodRunning).Condition(corev1.DisruptionTarget, corev1.ConditionFalse, "PreemptionByScheduler"),
		},

		// ---- what it left behind ----
		"an exit code of Spark is explained": {
			pod: driverPod().Phase(corev1.PodFailed).Container(main, exited(52, "Error")),
			want: Driver{Stopped: true, End: failed(ClassApplication, "Error", "Driver has one or more failed critical container(s): "+
				"spark-kubernetes-driver exited with code 52 (Error). The heap was too small: raise spark.driver.memory.", ptr.To[int32](52))},
		},
		"a sidecar's exit code is not explained as Spark's": {
			pod: driverPod().Phase(corev1.PodFailed).Container("sidecar", exited(52, "Error")).Container(main, exited(0, "Completed")),
			want: Driver{Stopped: true, End: failed(ClassApplication, "Error",
				"Driver has one or more failed critical container(s): sidecar exited with code 52 (Error).", ptr.To[int32](52))},
		},
		"the exit code of the container that the template names is explained": {
			pod: driverPod().Phase(corev1.PodFailed).Container("driver", exited(101, "Error")), main: "driver",
			want: Driver{Stopped: true, End: failed(ClassApplication, "Error", "Driver has one or more failed critical container(s): "+
				"driver exited with code 101 (Error). The main class was not found: correct its name, or add the jar that has it.", ptr.To[int32](101))},
		},
		"the driver's exception and its cause are reported": {
			pod: driverPod().Phase(corev1.PodFailed).Container(main, exited(1, "Error")).Exception(
				"org.apache.spark.SparkException: Job aborted:", "Task 0 failed 4 times", "\tat org.apache.spark.A.a(A.scala:1)",
				"Caused by: java.io.IOException: no route", "\tat B.b(B.java:1)", "Caused by: java.net.ConnectException: refused", "\t... 1 more"),
			want: Driver{Stopped: true, End: &End{State: Failed, Cause: Cause{
				Class: ClassApplication, Reason: "Error", ExitCode: ptr.To[int32](1),
				Message: "Driver has one or more failed critical container(s): spark-kubernetes-driver exited with code 1 (Error). " +
					"org.apache.spark.SparkException: Job aborted:\nTask 0 failed 4 times",
				Detail: "Caused by: java.net.ConnectException: refused",
			}}},
		},
		"a container's termination message is reported": {
			pod: driverPod().Phase(corev1.PodFailed).Container(main, exited(1, "Error"), saying("no such bucket\n")).Exception("E: bad"),
			want: Driver{Stopped: true, End: &End{State: Failed, Cause: Cause{
				Class: ClassApplication, Reason: "Error", ExitCode: ptr.To[int32](1),
				Message: "Driver has one or more failed critical container(s): spark-kubernetes-driver exited with code 1 (Error). E: bad",
				Detail:  "Termination message: no such bucket",
			}}},
		},
		"the exception is reported without its stack frames": {
			pod: driverPod().Phase(corev1.PodFailed).Container(main, exited(1, "Error"), saying(
				"Exception in thread \"main\" E: [unresolved dependency]\n"+strings.Repeat("\tat A.a(A.scala:1)\n", 50)+"\t... 3 more\n")),
			want: Driver{Stopped: true, End: &End{State: Failed, Cause: Cause{
				Class: ClassApplication, Reason: "Error", ExitCode: ptr.To[int32](1),
				Message: "Driver has one or more failed critical container(s): spark-kubernetes-driver exited with code 1 (Error).",
				Detail:  "Termination message: Exception in thread \"main\" E: [unresolved dependency]",
			}}},
		},
		"a log with only stack frames is reported unchanged": {
			pod: driverPod().Phase(corev1.PodFailed).Container(main, exited(1, "Error"), saying("\tat A.a(A.scala:1)\n\tat B.b(B.scala:2)\n")),
			want: Driver{Stopped: true, End: &End{State: Failed, Cause: Cause{
				Class: ClassApplication, Reason: "Error", ExitCode: ptr.To[int32](1),
				Message: "Driver has one or more failed critical container(s): spark-kubernetes-driver exited with code 1 (Error).",
				Detail:  "Termination message: at A.a(A.scala:1)\n\tat B.b(B.scala:2)",
			}}},
		},
		"the rest of a cut stack frame is dropped": {
			pod: driverPod().Phase(corev1.PodFailed).Container(main, exited(1, "Error"), saying(
				"nnelRead(Handler.java:249)\n\tat A.a(A.scala:1)\n\tat B.b(B.scala:2)\n")),
			want: Driver{Stopped: true, End: &End{State: Failed, Cause: Cause{
				Class: ClassApplication, Reason: "Error", ExitCode: ptr.To[int32](1),
				Message: "Driver has one or more failed critical container(s): spark-kubernetes-driver exited with code 1 (Error).",
				Detail:  "Termination message: at A.a(A.scala:1)\n\tat B.b(B.scala:2)",
			}}},
		},
		"the rest of a cut stack frame is dropped before an exception": {
			pod: driverPod().Phase(corev1.PodFailed).Container(main, exited(1, "Error"), saying(
				"ler.java:249)\n\tat A.a(A.scala:1)\nCaused by: E: no bucket\n\tat B.b(B.scala:2)\n")),
			want: Driver{Stopped: true, End: &End{State: Failed, Cause: Cause{
				Class: ClassApplication, Reason: "Error", ExitCode: ptr.To[int32](1),
				Message: "Driver has one or more failed critical container(s): spark-kubernetes-driver exited with code 1 (Error).",
				Detail:  "Termination message: Caused by: E: no bucket",
			}}},
		},

		// ---- obstacles ----
		"a scheduler's message is reported without its numbers": {
			pod: driverPod().Phase(corev1.PodPending).
				Condition(corev1.PodScheduled, corev1.ConditionFalse, corev1.PodReasonUnschedulable).
				Saying("0/17 nodes are available: 2 node(s) had untolerated taint {gpu: }, 1 Insufficient memory, 14 Insufficient memory. " +
					"preemption: 0/17 nodes are available: 17 Preemption is not helpful for scheduling."),
			want: Driver{Waiting: &Cause{Class: ClassScheduling, Reason: "Unschedulable", Message: "Driver Pod cannot be scheduled: " +
				"Insufficient memory, node(s) had untolerated taint {gpu: }."}},
		},
		"a scheduler's message without numbers is reported unchanged": {
			pod: driverPod().Phase(corev1.PodPending).Condition(corev1.PodScheduled, corev1.ConditionFalse, "SchedulingGated").
				Saying("Scheduling is blocked due to non-empty scheduling gates"),
			want: Driver{Waiting: &Cause{Class: ClassScheduling, Reason: "SchedulingGated",
				Message: "Driver Pod cannot be scheduled: Scheduling is blocked due to non-empty scheduling gates"}},
		},
		"a Pod whose node prepares its volumes and network has the time since when": {
			pod: driverPod().Phase(corev1.PodPending).Scheduled(at(time.Minute)).
				Condition(corev1.PodReadyToStartContainers, corev1.ConditionFalse, "").Container(main, waits("ContainerCreating", "")),
			want: Driver{PreparingSince: at(time.Minute)},
		},
		"a Pod whose volumes and network are ready waits only for its image": {
			pod: driverPod().Phase(corev1.PodPending).Scheduled(at(time.Minute)).
				Condition(corev1.PodReadyToStartContainers, corev1.ConditionTrue, "").Container(main, waits("ContainerCreating", "")),
		},
		"a Pod that lost its network when it ended is not being prepared": {
			pod: driverPod().Phase(corev1.PodSucceeded).Scheduled(at(time.Minute)).
				Condition(corev1.PodReadyToStartContainers, corev1.ConditionFalse, ""),
			want: Driver{End: completed, Stopped: true},
		},
		"a Pod that cannot be scheduled says so": {
			pod: driverPod().Phase(corev1.PodPending).
				Condition(corev1.PodScheduled, corev1.ConditionFalse, corev1.PodReasonUnschedulable),
			want: Driver{Waiting: &Cause{
				Class: ClassScheduling, Reason: "Unschedulable", Message: "Driver Pod cannot be scheduled."}},
		},
		"a Pod that is scheduled waits for no scheduler": {
			pod: driverPod().Phase(corev1.PodPending).Condition(corev1.PodScheduled, corev1.ConditionTrue, ""),
		},
		"an init container's image that cannot be pulled says so": {
			pod: driverPod().Phase(corev1.PodPending).
				InitContainer("fetch", waits("ErrImagePull", "")).Container(main, waits("PodInitializing", "")),
			want: Driver{Waiting: &Cause{Class: ClassInfrastructure, Reason: "ImagePullFailed",
				Message: `Image "spark:4.1.0" of container fetch cannot be pulled; correct the image's name or its pull secret.`}},
		},
		"a container that cannot be created has the reason": {
			pod: driverPod().Phase(corev1.PodPending).
				Container(main, waits("CreateContainerConfigError", `secret "s" not found`)),
			want: Driver{Waiting: &Cause{Class: ClassInfrastructure, Reason: "CreateContainerConfigError",
				Message: `Container spark-kubernetes-driver cannot be created: secret "s" not found`}},
		},

		// ---- deletion ----
		"a Pod terminates from the deletion on, not from the end of its grace period": {
			pod:  driverPod().Phase(corev1.PodRunning).Container(main, ready).Terminating(at(time.Minute), 30),
			want: Driver{Started: true, Terminating: true, TerminatingSince: at(time.Minute), TerminatingUntil: at(90 * time.Second)},
		},
		"a Pod that is deleted without grace terminates from the deletion on": {
			pod: driverPod().Phase(corev1.PodSucceeded).Terminating(at(time.Minute), 0),
			want: Driver{End: completed, Stopped: true, Terminating: true, NoGraceLeft: true,
				TerminatingSince: at(time.Minute), TerminatingUntil: at(time.Minute)},
		},
		"a grace period of a hundred years ends after a hundred years": {
			pod: driverPod().Phase(corev1.PodRunning).Container(main, ready).Terminating(at(time.Minute), 100*year),
			want: Driver{Started: true, Terminating: true,
				TerminatingSince: at(time.Minute), TerminatingUntil: at(time.Minute + 100*year*time.Second)},
		},
		"a grace period that overflows does not end, whatever the deletion timestamp is": {
			pod: driverPod().Created(at(0)).Phase(corev1.PodRunning).Container(main, ready).Terminating(at(time.Minute), 1<<62),
			want: Driver{Started: true, Terminating: true,
				TerminatingSince: at(time.Minute), TerminatingUntil: at(time.Minute).Add(math.MaxInt64 / time.Second * time.Second)},
		},
		"a deletion timestamp that overflowed still says when the deletion was": {
			pod: driverPod().Created(at(0)).Phase(corev1.PodRunning).Container(main, ready).Terminating(at(time.Minute), 300*year),
			want: Driver{Started: true, Terminating: true,
				TerminatingSince: at(time.Minute), TerminatingUntil: at(time.Minute).Add(math.MaxInt64 / time.Second * time.Second)},
		},
		"no Pod is deleted before it is created": {
			pod: driverPod().Created(at(time.Hour)).Phase(corev1.PodRunning).Container(main, ready).Terminating(at(time.Minute), 1<<62),
			want: Driver{Started: true, Terminating: true,
				TerminatingSince: at(time.Hour), TerminatingUntil: at(time.Hour).Add(math.MaxInt64 / time.Second * time.Second)},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			pod := test.pod.Obj()
			test.want.UID, test.want.Name, test.want.Status = pod.UID, pod.Name, &pod.Status
			// cause_test.go covers Unquoted.
			if diff := cmp.Diff(&test.want, ObserveDriver(pod, test.main), cmpopts.IgnoreFields(Cause{}, "Unquoted")); diff != "" {
				t.Errorf("ObserveDriver (-want +got):\n%s", diff)
			}
		})
	}
}

// The kubelet alternates between these reasons while an image cannot be pulled. The reported text must not change.
func TestTheMessageOfAnImagePullFailureIsStable(t *testing.T) {
	want := &Cause{Class: ClassInfrastructure, Reason: "ImagePullFailed",
		Message: `Image "spark:4.1.0" of container driver cannot be pulled; correct the image's name or its pull secret.`}
	for _, reason := range []string{
		"ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull",
		"ImageInspectError", "RegistryUnavailable", "SignatureValidationFailed",
	} {
		pod := driverPod().Phase(corev1.PodPending).Container("driver", waits(reason, "back-off 10s")).Obj()
		if diff := cmp.Diff(want, ObserveDriver(pod, "").Waiting); diff != "" {
			t.Errorf("%s (-want +got):\n%s", reason, diff)
		}
	}
}

// A Pod is from an informer's cache: what is stored must not point into it.
func TestObservationOfAnExitCodeIsACopy(t *testing.T) {
	pod := driverPod().Phase(corev1.PodFailed).Container("driver", exited(1, "Error")).Obj()
	seen := ObserveDriver(pod, "")
	*seen.End.Cause.ExitCode = 42
	if got := pod.Status.ContainerStatuses[0].State.Terminated.ExitCode; got != 1 {
		t.Errorf("the Pod's exit code became %d", got)
	}
}
