package resources

import (
	"fmt"

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

// OverruledOf returns the settings of a cluster's templates that have no effect. Spark properties decide on which port a
// daemon listens, since its Service has to find it.
func OverruledOf(cluster *sparkv1.SparkCluster) finding.List {
	b := newBuilder(cluster, Defaults{})
	var all finding.List
	if master := templated(b.master.StatefulSetSpec, Master); master != nil {
		web := b.port(masterUIKey, master, masterWebVariable, MasterWebPort)
		all = append(all, ports(Master, master, map[string]int32{masterPortVariable: MasterPort, masterWebVariable: web},
			map[string]int32{PortWeb: web, portSpark: MasterPort, portRest: portOf(b.conf[restKey], RestPort)})...)
		all = append(all, unreadable(Master, master, masterOptions)...)
	}
	if worker := templated(b.worker.StatefulSetSpec, Worker); worker != nil {
		web := b.port(workerUIKey, worker, workerWebVariable, WorkerWebPort)
		all = append(all, ports(Worker, worker, map[string]int32{workerWebVariable: web}, map[string]int32{PortWeb: web})...)
		all = append(all, unreadable(Worker, worker, workerOptions)...)
	}
	return all
}

// templated returns the daemon's container in a template; nil if it has none.
func templated(template *appsv1.StatefulSetSpec, role string) *corev1.Container {
	if template == nil {
		return nil
	}
	containers := template.Template.Spec.Containers
	at := indexOf(containers, role)
	if at < 0 {
		return nil
	}
	return &containers[at]
}

// ports returns the variables and named ports of a container that differ from the ports that its daemon uses.
func ports(role string, container *corev1.Container, variables, named map[string]int32) finding.List {
	var all finding.List
	for _, given := range container.Env {
		if port, ok := variables[given.Name]; ok && given.Value != fmt.Sprint(port) {
			all.Add(overruled(role, "env "+given.Name, nil, fmt.Sprintf("is set to %d", port), "leave it out"))
		}
	}
	for _, given := range container.Ports {
		if port, ok := named[given.Name]; ok && given.ContainerPort != port {
			all.Add(overruled(role, "ports "+given.Name, given.ContainerPort,
				fmt.Sprintf("is the target of the Service, but the daemon listens on %d", port), "leave it out"))
		}
	}
	return all
}

// unreadable returns a variable whose value is not in the template, so that properties cannot be appended to it.
func unreadable(role string, container *corev1.Container, options string) finding.List {
	if given := variable(container, options); given == nil || given.ValueFrom == nil {
		return nil
	}
	return finding.List{overruled(role, "env "+options+" with valueFrom", nil, "has no effect",
		"use SPARK_DAEMON_JAVA_OPTS, which the daemon also reads")}
}

// overruled warns of a setting of a daemon's container.
func overruled(role, part string, value any, message, remedy string) finding.Finding {
	return finding.Finding{
		Severity: finding.Warning, Field: "spec." + role + "Spec.statefulSetSpec", Key: "container " + role + ": " + part,
		Value: value, Message: message, Remedy: remedy,
	}
}
