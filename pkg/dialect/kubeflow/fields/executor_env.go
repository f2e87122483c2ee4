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

// executorVariables are the environment variables that Spark gives to every executor, after those of the template: the
// last of a name counts. The property spark.executorEnv is what comes after them, and holds plain values only.
var executorVariables = []string{
	"SPARK_USER", "SPARK_DRIVER_URL", "SPARK_EXECUTOR_CORES", "SPARK_EXECUTOR_MEMORY", "SPARK_APPLICATION_ID",
	sparkConfDirVariable, "SPARK_EXECUTOR_ID", "SPARK_RESOURCE_PROFILE_ID",
}

// lastVariables are those that Spark gives to every executor after all others.
var lastVariables = []string{"SPARK_EXECUTOR_POD_IP", "SPARK_EXECUTOR_POD_NAME", "SPARK_LOCAL_DIRS"}

// setsLast says that Spark gives executors a variable after all that anybody else does.
func (p properties) setsLast(name string) bool {
	_, classPath := p["spark.executor.extraClassPath"]
	_, secret := p[names.Executor.KubernetesProperty("secretKeyRef."+name)]
	return slices.Contains(lastVariables, name) || strings.HasPrefix(name, "SPARK_JAVA_OPT_") ||
		name == "SPARK_CLASSPATH" && classPath || secret
}

// setExecutorEnv sets the variables of the spec that cannot be in the template, since they take the place of one that
// comes after it, or refer to one.
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
			p[key] = property{value, fmt.Sprintf("spec.executor.env[%d]", i)}
		}
	}
}

// variableReference is what the kubelet replaces in values: a variable that comes before, and a dollar sign that is meant.
var variableReference = regexp.MustCompile(`\$\$|\$\(([-._a-zA-Z0-9]+)\)`)

// mostReferred bounds what references to references grow to. The driver's config map holds no more.
const mostReferred = 1 << 20

// withValues puts in the place of references to properties' variables what those say, as long as so many bytes are left:
// Spark sets them in any order.
func (p properties) withValues(value string, left *int) string {
	return variableReference.ReplaceAllStringFunc(value, func(found string) string {
		its, set := p[names.Executor.EnvironmentPrefix()+referred(found)]
		if *left -= len(its.value); !set || *left < 0 {
			return found
		}
		return its.value
	})
}

// referred is the name of the variable that a reference is to.
func referred(reference string) string {
	return strings.TrimSuffix(strings.TrimPrefix(reference, "$("), ")")
}

// unsupportedVariables warns of variables that executors get otherwise.
func unsupportedVariables(environment []corev1.EnvVar, p properties) finding.List {
	var found finding.List
	for i, variable := range environment {
		field := fmt.Sprintf("spec.executor.env[%d]", i)
		if variable.ValueFrom != nil && slices.Contains(executorVariables, variable.Name) {
			found.WarnOfKey(field, variable.Name, nil, "has no effect, Spark sets it after what comes from elsewhere", "write its value")
		}
		if p.setsLast(variable.Name) {
			found.WarnOfKey(field, variable.Name, nil, "has no effect, Spark sets it after all others", "leave it out")
		}
		for _, reference := range variableReference.FindAllString(variable.Value, -1) {
			if p.setsLast(referred(reference)) {
				found.WarnOfKey(field, variable.Name, nil, text.Format("gets no value for %s, which Spark sets after all others", reference),
					"refer to a variable of spec.executor.env that has it from where Spark has it")
			}
		}
	}
	return found
}
