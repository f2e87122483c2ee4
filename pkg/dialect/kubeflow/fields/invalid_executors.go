package fields

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/firesteel-dev/firesteel/internal/text"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
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
	return append(found, dialect.NoExecutors(invalidPods(app, names.Executor))...)
}

// isDevice reports whether a name is an extended resource, or one of Kubernetes' own that a container may limit.
func isDevice(name string) bool {
	own := []string{"cpu", "memory", "ephemeral-storage"}
	return slices.Contains(own, name) || strings.HasPrefix(name, "hugepages-") ||
		strings.Contains(name, "/") && len(validation.IsQualifiedName(name)) == 0
}
