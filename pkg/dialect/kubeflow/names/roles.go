package names

import (
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// Role is the role of a Pod in an application: driver or executor.
type Role string

// The roles.
const (
	Driver   Role = "driver"
	Executor Role = "executor"
)

// Pods returns what a spec asks of the Pods of a role.
func (r Role) Pods(spec *v1beta2.SparkApplicationSpec) *v1beta2.SparkPodSpec {
	if r == Driver {
		return &spec.Driver.SparkPodSpec
	}
	return &spec.Executor.SparkPodSpec
}

// KubernetesProperty returns a property of Spark on Kubernetes for the role: spark.kubernetes.driver.<key>.
func (r Role) KubernetesProperty(key string) string {
	return "spark.kubernetes." + string(r) + "." + key
}

// Property returns a property of Spark for the role: spark.driver.<key>.
func (r Role) Property(key string) string { return "spark." + string(r) + "." + key }

// EnvironmentPrefix returns the prefix of the properties that set environment variables.
func (r Role) EnvironmentPrefix() string {
	if r == Driver {
		return "spark.kubernetes.driverEnv."
	}
	return "spark.executorEnv."
}

// Container returns the name of Spark's container.
func (r Role) Container() string {
	if r == Driver {
		return DriverContainer
	}
	return submission.DefaultExecutorContainer
}

// Field returns the path of a field of the role in the spec.
func (r Role) Field(name string) string { return "spec." + string(r) + "." + name }

// DriverContainer is Spark's name for the container whose end is the end of the driver.
const DriverContainer = submission.DefaultDriverContainer
