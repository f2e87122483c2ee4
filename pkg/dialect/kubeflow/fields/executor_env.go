package fields

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/internal/text"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/names"
	"github.com/firesteel-dev/firesteel/pkg/finding"
)

// executorVariables are the environment variables that Spark gives to every executor after those of the template. The last
// variable with a name counts. The properties spark.executorEnv come after them, and hold plain values only.
var executorVariables = []string{
	"SPARK_USER", "SPARK_DRIVER_URL", "SPARK_EXECUTOR_CORES", "SPARK_EXECUTOR_MEMORY", "SPARK_APPLICATION_ID",
	names.SparkConfDirVariable, "SPARK_EXECUTOR_ID", "SPARK_RESOURCE_PROFILE_ID",
}

// lastVariables are those that Spark gives to every executor after all others.
var lastVariables = []string{"SPARK_EXECUTOR_POD_IP", "SPARK_EXECUTOR_POD_NAME", "SPARK_LOCAL_DIRS"}

// setsLast reports whether Spark sets a variable of executors after all other sources.
func (p properties) setsLast(name string) bool {
	_, classPath := p["spark.executor.extraClassPath"]
	_, secret := p[names.Executor.KubernetesProperty("secretKeyRef."+name)]
	return slices.Contains(lastVariables, name) || strings.HasPrefix(name, "SPARK_JAVA_OPT_") ||
		name == "SPARK_CLASSPATH" && classPath || secret
}

// setExecutorEnv sets the variables of the spec that cannot be in the template. They replace a variable that comes after the
// template, or refer to one.
func (p properties) setExecutorEnv(environment []corev1.EnvVar) {
	left := mostReferred
	for i, variable := range environment {
		key := names.Executor.EnvironmentPrefix() + variable.Name
		delete(p, names.Executor.KubernetesProperty("secretKeyRef."+variable.Name))
		value := p.withValues(variable.Value, &left)
		_, shadowed := p[key]
		switch {
		case variable.ValueFrom != nil:
			delete(p, key)
		case shadowed, value != variable.Value, slices.Contains(executorVariables, variable.Name), strings.Contains(value, "$(SPARK_"):
			p[key] = property{value: value, field: fmt.Sprintf("spec.executor.env[%d]", i)}
		}
	}
}

// variableReference matches what the kubelet replaces in values: a reference to an earlier variable, and an escaped dollar
// sign.
var variableReference = regexp.MustCompile(`\$\$|\$\(([-._a-zA-Z0-9]+)\)`)

// mostReferred bounds the length of expanded references. The driver's config map holds no more.
const mostReferred = 1 << 20

// withValues replaces references to variables of properties by their values, as long as the bytes in left suffice: Spark
// sets these variables in any order.
func (p properties) withValues(value string, left *int) string {
	return variableReference.ReplaceAllStringFunc(value, func(found string) string {
		property, set := p[names.Executor.EnvironmentPrefix()+referred(found)]
		if *left -= len(property.value); !set || *left < 0 {
			return found
		}
		return property.value
	})
}

// referred returns the name of the variable in a reference.
func referred(reference string) string {
	return strings.TrimSuffix(strings.TrimPrefix(reference, "$("), ")")
}

// unsupportedVariables warns of variables whose value in executors comes from elsewhere.
func unsupportedVariables(environment []corev1.EnvVar, p properties) finding.List {
	var found finding.List
	for i, variable := range environment {
		field := fmt.Sprintf("spec.executor.env[%d]", i)
		if variable.ValueFrom != nil && slices.Contains(executorVariables, variable.Name) {
			found.Warn(field, nil, variable.Name+" has no effect, Spark sets it after what comes from elsewhere", "write its value")
		}
		if p.setsLast(variable.Name) {
			found.Warn(field, nil, variable.Name+" has no effect, Spark sets it after all others", "leave it out")
		}
		for _, reference := range variableReference.FindAllString(variable.Value, -1) {
			if p.setsLast(referred(reference)) {
				found.Warn(field, nil, text.Format("%s gets no value for %s, which Spark sets after all others", variable.Name, reference),
					"refer to a variable of spec.executor.env that has it from where Spark has it")
			}
		}
	}
	return found
}
