package resources

import (
	"cmp"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// The commands run the daemons in the foreground, so that a daemon's end is its container's, its log the container's, and
// a signal reaches it. tini, which the images of Spark have, takes care of processes that executors leave behind.
const (
	spark = `exec $(command -v tini >/dev/null && echo tini -s --) "${SPARK_HOME:-/opt/spark}/bin/spark-class" `

	// masterCommand binds to the Pod's own full name, which the kubelet writes into its hosts file: it is good before the
	// cluster's DNS knows the Pod, and after the Pod was replaced.
	masterCommand = `export SPARK_MASTER_HOST="${SPARK_MASTER_HOST:-$(hostname -f || echo "$HOSTNAME")}" && ` +
		spark + `org.apache.spark.deploy.master.Master`

	workerCommand = spark + `org.apache.spark.deploy.worker.Worker spark://%s:%d`
)

// decommissionGrace is how long a worker may take to move its blocks, in seconds. It ends as soon as it is done.
const decommissionGrace = 300

// leave tells the worker to decommission itself, and waits until its executors have moved their blocks and ended. Each
// pattern is written so that the text of the command does not match it. Only the JVM is told: tini would tell it once more,
// and a second signal while Spark is at the first one ends it.
const leave = `for process in /proc/[0-9]*; do ` +
	`if grep -qsx java "$process/comm" && grep -aqs '[d]eploy.worker.Worker' "$process/cmdline"; then kill -s PWR "${process#/proc/}"; fi; done; ` +
	`while sleep 1 && grep -aqs '[C]oarseGrainedExecutorBackend' /proc/[0-9]*/cmdline; do :; done`

// decommission has a worker leave only when what it holds is moved, where its template does not say how it ends.
func decommission(pod *corev1.PodSpec, worker *corev1.Container) {
	if worker.Lifecycle == nil {
		worker.Lifecycle = &corev1.Lifecycle{}
	}
	if worker.Lifecycle.PreStop == nil {
		worker.Lifecycle.PreStop = &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"bash", "-c", leave}}}
	}
	pod.TerminationGracePeriodSeconds = cmp.Or(pod.TerminationGracePeriodSeconds, ptr.To[int64](decommissionGrace))
}

const mebi = 1 << 20

// addCapacity has a worker offer what its container is limited to, where nothing else says what it offers: the JVM may
// see the whole node. Of the memory it leaves a gibibyte to the daemon itself, as Spark does, unless there is hardly more.
func addCapacity(worker *corev1.Container) {
	if len(worker.EnvFrom) > 0 {
		return // which may say it
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
