package fields

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/firesteel-dev/firesteel/internal/text"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/names"
	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/redact"
)

// invalidForExecutors warns of fields for which the API server refuses every executor. No executor is created then, and only
// the driver's log shows it. What depends on the cluster is not known here, for example whether a priority class exists.
func invalidForExecutors(app *v1beta2.SparkApplication) finding.List {
	var found finding.List
	refuse := func(field, value, problem string) {
		found.Add(finding.Finding{
			Severity: finding.Warning, Field: field, Value: value, Remedy: problem,
			Text: text.Format("no executor is created, the API server refuses %s %q", field, redact.Value(field, value)),
		})
	}
	spec, template := app.Spec.Executor, corev1.PodSpec{}
	if spec.Template != nil {
		template = spec.Template.Spec
	}
	for _, named := range []struct{ field, name, inTemplate, there string }{
		{"serviceAccount", spec.ServiceAccount, "serviceAccountName", template.ServiceAccountName},
		{"priorityClassName", priorityClass(app, &spec.SparkPodSpec), "priorityClassName", template.PriorityClassName},
	} {
		field, name := named.field, named.name
		if name == "" {
			field, name = "template.spec."+named.inTemplate, named.there
		}
		if problems := validation.IsDNS1123Subdomain(name); name != "" && len(problems) > 0 {
			refuse(names.Executor.Field(field), name, strings.Join(problems, ", "))
		}
	}
	if gpu := spec.GPU; gpu != nil && gpu.Name != "" && gpu.Quantity > 0 && !isDevice(gpu.Name) {
		refuse("spec.executor.gpu.name", gpu.Name, "write the name of a resource with its vendor, such as nvidia.com/gpu")
	}
	for _, choice := range choicesOfExecutors(executorTemplate(app)) {
		if !slices.Contains(choice.values, choice.given) {
			refuse(choice.what+" of executors", choice.given, "write one of "+strings.Join(choice.values[1:], ", "))
		}
	}
	for _, given := range []struct {
		field       string
		tolerations []corev1.Toleration
	}{{"tolerations", spec.Tolerations}, {"template.spec.tolerations", template.Tolerations}} {
		for i, toleration := range given.tolerations {
			if what, value, problem := intolerable(toleration); problem != "" {
				refuse(names.Executor.Field(fmt.Sprintf("%s[%d].%s", given.field, i, what)), value, problem)
			}
		}
	}
	return found
}

// isDevice reports whether a name is an extended resource, or one of Kubernetes' own that a container may limit.
func isDevice(name string) bool {
	own := []string{"cpu", "memory", "ephemeral-storage"}
	return slices.Contains(own, name) || strings.HasPrefix(name, "hugepages-") ||
		strings.Contains(name, "/") && len(validation.IsQualifiedName(name)) == 0
}

// choice is a field that has one of some values. The first one stands for none.
type choice struct {
	what, given string
	values      []string
}

// choicesOfExecutors returns the choices of the template that executors are made from.
func choicesOfExecutors(template *corev1.PodTemplateSpec) []choice {
	if template == nil {
		return nil
	}
	pod := template.Spec
	main := pod.Containers[sparkContainer(&pod, names.Executor)].Name
	choices := []choice{
		{"the dnsPolicy", string(pod.DNSPolicy), []string{"", "ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"}},
	}
	for _, container := range slices.Concat(pod.InitContainers, pod.Containers) {
		of := fmt.Sprintf(" of container %q", container.Name)
		if container.Name != main { // Spark sets those of its own container
			choices = append(choices, choice{"the imagePullPolicy" + of, string(container.ImagePullPolicy), []string{"", "Always", "IfNotPresent", "Never"}})
		}
		choices = append(choices, choice{"the terminationMessagePolicy" + of, string(container.TerminationMessagePolicy),
			[]string{"", "File", "FallbackToLogsOnError"}})
		for _, port := range container.Ports {
			choices = append(choices, choice{fmt.Sprintf("the protocol of port %d", port.ContainerPort) + of, string(port.Protocol),
				[]string{"", "TCP", "UDP", "SCTP"}})
		}
	}
	return choices
}

// intolerable returns the field of a toleration that the API server refuses, and why. The problem is empty if it refuses
// none. Operators that only some versions of Kubernetes have, Lt and Gt, are not checked.
func intolerable(t corev1.Toleration) (field, value, problem string) {
	const exists, equal, less, greater = corev1.TolerationOpExists, corev1.TolerationOpEqual, corev1.TolerationOpLt, corev1.TolerationOpGt
	effects := []corev1.TaintEffect{"", corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute}
	key, label := validation.IsQualifiedName(t.Key), validation.IsValidLabelValue(t.Value)
	switch {
	case !slices.Contains([]corev1.TolerationOperator{"", equal, exists, less, greater}, t.Operator):
		return "operator", string(t.Operator), "write Equal or Exists"
	case t.Key == "" && t.Operator != exists:
		return "operator", string(t.Operator), "without a key it has to be Exists"
	case t.Key != "" && len(key) > 0:
		return "key", t.Key, strings.Join(key, ", ")
	case t.Operator == exists && t.Value != "":
		return "value", t.Value, "leave it out, or write another operator than Exists"
	case (t.Operator == "" || t.Operator == equal) && len(label) > 0:
		return "value", t.Value, strings.Join(label, ", ")
	case !slices.Contains(effects, t.Effect):
		return "effect", string(t.Effect), "write NoSchedule, PreferNoSchedule or NoExecute"
	case t.TolerationSeconds != nil && t.Effect != corev1.TaintEffectNoExecute:
		return "tolerationSeconds", fmt.Sprint(*t.TolerationSeconds), "leave it out, or write the effect NoExecute"
	default:
		return "", "", ""
	}
}
