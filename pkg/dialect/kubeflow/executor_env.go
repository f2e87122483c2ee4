package kubeflow

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// executorVariables are the environment variables that Spark gives to every executor, after those of the template: the
// last of a name counts.
var executorVariables = []string{
	"SPARK_USER", "SPARK_DRIVER_URL", "SPARK_EXECUTOR_CORES", "SPARK_EXECUTOR_MEMORY", "SPARK_APPLICATION_ID",
	sparkConfDirVariable, "SPARK_EXECUTOR_ID", "SPARK_RESOURCE_PROFILE_ID",
}

// afterSparks says that a variable of executors has to come after those that Spark sets: it takes the place of one, or
// refers to one. The property spark.executorEnv is what comes after them, and holds plain values only.
func afterSparks(variable corev1.EnvVar) bool {
	return variable.ValueFrom == nil && (slices.Contains(executorVariables, variable.Name) || strings.Contains(variable.Value, "$(SPARK_"))
}
