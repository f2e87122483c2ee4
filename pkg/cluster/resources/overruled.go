package resources

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/finding"
)

const (
	masterPortVariable = "SPARK_MASTER_PORT"
	masterWebVariable  = "SPARK_MASTER_WEBUI_PORT"
	workerWebVariable  = "SPARK_WORKER_WEBUI_PORT"
)

// OverruledOf returns the settings of a cluster that have no effect: properties whose name no option of the JVM can have, and
// settings of its templates. Spark properties decide on which port a daemon listens, since its Service has to find it.
func OverruledOf(cluster *sparkv1.SparkCluster) finding.List {
	b := newBuilder(cluster, Defaults{})
	var all finding.List
	for _, name := range slices.Sorted(maps.Keys(cluster.Spec.SparkConf)) {
		if strings.Contains(name, "=") {
			all.Warn(finding.Entry("spec.sparkConf", name), nil, "has an equals sign in its name, so the daemons read another property", "write the name without it")
		}
	}
	if master, field := templated(b.master.StatefulSetSpec, Master); master != nil {
		web := b.port(masterUIKey, master, masterWebVariable, MasterWebPort)
		all = append(all, ports(field, master, map[string]int32{masterPortVariable: MasterPort, masterWebVariable: web},
			map[string]int32{PortWeb: web, portSpark: MasterPort, portRest: portOf(b.conf[restKey], RestPort)})...)
		all = append(all, unreadable(field, master, masterOptions)...)
	}
	if worker, field := templated(b.worker.StatefulSetSpec, Worker); worker != nil {
		web := b.port(workerUIKey, worker, workerWebVariable, WorkerWebPort)
		all = append(all, ports(field, worker, map[string]int32{workerWebVariable: web}, map[string]int32{PortWeb: web})...)
		all = append(all, unreadable(field, worker, workerOptions)...)
	}
	return all
}

// templated returns the daemon's container in a template, and its path; nil if it has none.
func templated(template *appsv1.StatefulSetSpec, role string) (container *corev1.Container, field string) {
	if template == nil {
		return nil, ""
	}
	containers := template.Template.Spec.Containers
	at := ContainerOf(containers, role)
	if at < 0 {
		return nil, ""
	}
	return &containers[at], fmt.Sprintf("spec.%sSpec.statefulSetSpec.template.spec.containers[%d]", role, at)
}

// ports returns the variables and named ports of a container that differ from the ports that its daemon uses.
func ports(field string, container *corev1.Container, variables, named map[string]int32) finding.List {
	var all finding.List
	for _, given := range container.Env {
		if port, ok := variables[given.Name]; ok && given.Value != fmt.Sprint(port) {
			all.Warn(finding.Entry(field+".env", given.Name), nil, fmt.Sprintf("is set to %d", port), "leave it out")
		}
	}
	for _, given := range container.Ports {
		if port, ok := named[given.Name]; ok && given.ContainerPort != port {
			all.Warn(finding.Entry(field+".ports", given.Name), given.ContainerPort,
				fmt.Sprintf("is the target of the Service, but the daemon listens on %d", port), "leave it out")
		}
	}
	return all
}

// unreadable returns a variable whose value is not in the template, so that properties cannot be appended to it.
func unreadable(field string, container *corev1.Container, options string) finding.List {
	var found finding.List
	if given := variable(container, options); given != nil && given.ValueFrom != nil {
		found.Warn(finding.Entry(field+".env", options)+".valueFrom", nil, "has no effect", "use SPARK_DAEMON_JAVA_OPTS, which the daemon also reads")
	}
	return found
}
