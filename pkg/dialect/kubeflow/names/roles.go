package names

import "github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"

// Role is what a Pod of an application is: its driver, or an executor.
type Role string

// The roles.
const (
	Driver   Role = "driver"
	Executor Role = "executor"
)

// executorContainer is the name of Spark's container in executors.
const executorContainer = "spark-kubernetes-executor"

// Pods are what a spec asks of the Pods of a role.
func (r Role) Pods(spec *v1beta2.SparkApplicationSpec) *v1beta2.SparkPodSpec {
	if r == Driver {
		return &spec.Driver.SparkPodSpec
	}
	return &spec.Executor.SparkPodSpec
}

// KubernetesProperty is a property of Spark on Kubernetes for the role: spark.kubernetes.driver.<key>.
func (r Role) KubernetesProperty(key string) string {
	return "spark.kubernetes." + string(r) + "." + key
}

// Property is a property of Spark for the role: spark.driver.<key>.
func (r Role) Property(key string) string { return "spark." + string(r) + "." + key }

// EnvironmentPrefix is what begins the property of an environment variable.
func (r Role) EnvironmentPrefix() string {
	if r == Driver {
		return "spark.kubernetes.driverEnv."
	}
	return "spark.executorEnv."
}

// Container is the name of Spark's container.
func (r Role) Container() string {
	if r == Driver {
		return DriverContainer
	}
	return executorContainer
}

// Field is a field of the role in the spec.
func (r Role) Field(name string) string { return "spec." + string(r) + "." + name }

// DriverContainer is Spark's name for the container whose end is the driver's.
const DriverContainer = "spark-kubernetes-driver"
