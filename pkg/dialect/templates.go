package dialect

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// RemoteTemplate is a pod template that a property names by a URL. If its content is not set, the plan is refused.
type RemoteTemplate struct {
	URL string

	role, field string
}

var roles = []string{"driver", "executor"}

// RemoteTemplates returns the remote templates of a plan.
func RemoteTemplates(plan submission.Plan, fields Fields) []RemoteTemplate {
	var remote []RemoteTemplate
	for _, role := range roles {
		if location, named := plan.Properties[templateKey(role)]; named {
			remote = append(remote, RemoteTemplate{URL: location, role: role, field: fields.template(role)})
		}
	}
	return remote
}

// ApplyTo puts the template into the plan, as if the spec held it.
func (r RemoteTemplate) ApplyTo(plan *submission.Plan, template *corev1.PodTemplateSpec) {
	delete(plan.Properties, templateKey(r.role))
	if r.role == "driver" {
		plan.DriverTemplate = template
	} else {
		plan.ExecutorTemplate = template
	}
}

// WriteTemplate begins the end of a remedy, which names the field of a template.
const WriteTemplate = "write the template into "

// Refuse returns why the template is not available, and the remedy.
func (r RemoteTemplate) Refuse(problem, remedy string) *finding.Finding {
	return &finding.Finding{
		Severity: finding.Error, Field: finding.Entry("spec.sparkConf", templateKey(r.role)), Value: r.URL, Message: problem,
		Remedy: remedy + ", or " + WriteTemplate + r.field,
	}
}

// Found returns the findings about the template, with the property that names it.
func (r RemoteTemplate) Found(inTemplate finding.List) finding.List {
	var found finding.List
	for _, f := range inTemplate {
		found.Add(finding.Finding{
			Severity: f.Severity, Field: finding.Entry("spec.sparkConf", templateKey(r.role)), Value: r.URL, Text: fmt.Sprintf("In %s %s", r.URL, f.Error()),
		})
	}
	return found
}

func templateKey(role string) string { return fmt.Sprintf("spark.kubernetes.%s.podTemplateFile", role) }

// CheckTemplates lets templates in the spec win over those that properties name. It refuses templates that are files of the
// operator: without them, the application would run differently.
func CheckTemplates(plan submission.Plan, fields Fields) finding.List {
	inline := map[string]*corev1.PodTemplateSpec{"driver": plan.DriverTemplate, "executor": plan.ExecutorTemplate}
	var found finding.List
	for _, role := range roles {
		key := templateKey(role)
		location, named := plan.Properties[key]
		switch {
		case named && inline[role] != nil:
			delete(plan.Properties, key)
		case named && !remote(location):
			found.Refuse(finding.Entry("spec.sparkConf", key), location, "is a file, which Firesteel does not read",
				WriteTemplate+fields.template(role))
		}
	}
	return found
}

// remote reports whether a location is a URL, and not a local file.
func remote(location string) bool {
	scheme, _, absolute := strings.Cut(strings.ToLower(location), ":")
	return absolute && !strings.Contains(scheme, "/") && scheme != "file" && scheme != "local"
}
