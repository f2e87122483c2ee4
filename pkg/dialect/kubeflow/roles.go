package kubeflow

import "github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"

// role is what a Pod of an application is: its driver, or an executor.
type role string

const (
	driverRole   role = "driver"
	executorRole role = "executor"
)

// executorContainer is the name of Spark's container in executors.
const executorContainer = "spark-kubernetes-executor"

// pods are what a spec asks of the Pods of a role.
func (r role) pods(spec *v1beta2.SparkApplicationSpec) *v1beta2.SparkPodSpec {
	if r == driverRole {
		return &spec.Driver.SparkPodSpec
	}
	return &spec.Executor.SparkPodSpec
}

// property is a property of Spark on Kubernetes for the role: spark.kubernetes.driver.<key>.
func (r role) property(key string) string { return "spark.kubernetes." + string(r) + "." + key }

// own is a property of Spark for the role: spark.driver.<key>.
func (r role) own(key string) string { return "spark." + string(r) + "." + key }

// environment is what begins the property of an environment variable.
func (r role) environment() string {
	if r == driverRole {
		return "spark.kubernetes.driverEnv."
	}
	return "spark.executorEnv."
}

// container is the name of Spark's container.
func (r role) container() string {
	if r == driverRole {
		return driverContainer
	}
	return executorContainer
}

// field is a field of the role in the spec.
func (r role) field(name string) string { return "spec." + string(r) + "." + name }
