package resources

import (
	"cmp"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// The commands run the daemons in the foreground: the container ends with the daemon, has its log, and forwards
// signals to it. tini, which is in the images of Spark, reaps processes that executors leave behind.
const (
	spark = `exec $(command -v tini >/dev/null && echo tini -s --) "${SPARK_HOME:-/opt/spark}/bin/spark-class" `

	// masterCommand binds to the Pod's own full name from its hosts file. That works before the cluster's DNS knows
	// the Pod, and after the Pod was replaced.
	masterCommand = `export SPARK_MASTER_HOST="${SPARK_MASTER_HOST:-$(hostname -f || echo "$HOSTNAME")}" && ` +
		spark + `org.apache.spark.deploy.master.Master`

	workerCommand = spark + `org.apache.spark.deploy.worker.Worker spark://%s:%d`
)

// decommissionGrace is how long a worker may take to move its blocks, in seconds. It ends earlier if it is done.
const decommissionGrace = 300

// decommissionCommand tells the worker to decommission itself, and waits until its executors have moved their blocks
// and ended. Each pattern is written so that it does not match the command's own text. Only the JVM gets the signal:
// tini would forward it, and a second signal would end Spark while it handles the first.
const decommissionCommand = `for process in /proc/[0-9]*; do ` +
	`if grep -qsx java "$process/comm" && grep -aqs '[d]eploy.worker.Worker' "$process/cmdline"; then kill -s PWR "${process#/proc/}"; fi; done; ` +
	`while sleep 1 && grep -aqs '[C]oarseGrainedExecutorBackend' /proc/[0-9]*/cmdline; do :; done`

// decommission makes a worker move its blocks before it ends, unless its template has its own preStop hook.
func decommission(pod *corev1.PodSpec, worker *corev1.Container) {
	if worker.Lifecycle == nil {
		worker.Lifecycle = &corev1.Lifecycle{}
	}
	if worker.Lifecycle.PreStop == nil {
		worker.Lifecycle.PreStop = &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"bash", "-c", decommissionCommand}}}
	}
	pod.TerminationGracePeriodSeconds = cmp.Or(pod.TerminationGracePeriodSeconds, ptr.To[int64](decommissionGrace))
}

const mebi = 1 << 20

// addCapacity makes a worker offer its container's limits, unless the template sets the capacity: the JVM may see the
// whole node. It reserves one gibibyte of memory for the daemon, as Spark does, unless there is hardly more.
func addCapacity(worker *corev1.Container) {
	if len(worker.EnvFrom) > 0 {
		return // which may set it
	}
	limits := worker.Resources.Limits
	if cores := limits.Cpu().Value(); cores > 0 {
		addVariable(worker, "SPARK_WORKER_CORES", fmt.Sprint(cores))
	}
	total := limits.Memory().Value() / mebi
	if offered := max(total-1024, min(total, 1024)); offered > 0 {
		addVariable(worker, "SPARK_WORKER_MEMORY", fmt.Sprintf("%dm", offered))
	}
}
