package main

import (
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/utils/ptr"

	"github.com/firesteel-dev/firesteel/pkg/finding"
)

// sparkOperatorRefinements leave to Kubernetes what it checks itself, and refuse what the Kubeflow operator's webhook
// refuses. If settings decide about a refusal, it becomes a condition instead.
var sparkOperatorRefinements = slices.Concat(
	[]refinement{
		{rules: rules(beginsServices)},
		{path: "spec", rules: rules(oneNodeSelector, templatesOf("driver"), templatesOf("executor"))},
		{path: "spec.restartPolicy", texts: "^(Never|Always|OnFailure)$"},
		{path: "spec.hadoopConf", values: &scalar},
		{path: "spec.volumes[]", opaque: true, properties: nameOnly, required: []string{"name"}},
	},
	ofRole("driver"), ofRole("executor"),
)

// ofRole returns the refinements of the fields of a role that contain large types of Kubernetes.
func ofRole(role string) []refinement {
	refinements := []refinement{{path: fmt.Sprintf("spec.%s.cores", role), texts: `^([0-9]{1,9}[.])?[0-9]{1,9}$`}}
	for _, containers := range []string{"sidecars", "initContainers"} {
		refinements = append(refinements, refinement{
			path: fmt.Sprintf("spec.%s.%s[]", role, containers), opaque: true, properties: nameOnly, required: []string{"name"},
		})
	}
	for _, field := range []string{"affinity", "lifecycle", "podSecurityContext", "securityContext"} {
		refinements = append(refinements, refinement{path: fmt.Sprintf("spec.%s.%s", role, field), opaque: true})
	}
	return refinements
}

var nameOnly = map[string]apiextensionsv1.JSONSchemaProps{"name": {Type: "string"}}

// scalar is a text, a number, true or false. A schema can only express that the value is neither a list nor an object with
// fields.
var scalar = apiextensionsv1.JSONSchemaProps{
	XPreserveUnknownFields: ptr.To(true), MaxItems: ptr.To[int64](0), MaxProperties: ptr.To[int64](0),
}

// beginsServices applies to new objects: the name of an existing one cannot be corrected.
var beginsServices = apiextensionsv1.ValidationRule{
	Rule: "oldSelf.hasValue() || " +
		"size(self.metadata.name) <= 63 && self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",
	OptionalOldSelf: ptr.To(true),
	MessageExpression: `'` + finding.InvalidName.Text + ` "' + self.metadata.name + '": ` +
		`write at most 63 lower case letters, digits and -, of which the first is a letter and the last is not -'`,
}

var oneNodeSelector = apiextensionsv1.ValidationRule{
	Rule: "!has(self.nodeSelector) || " +
		"(!has(self.driver) || !has(self.driver.nodeSelector)) && (!has(self.executor) || !has(self.executor.nodeSelector))",
	FieldPath: ".nodeSelector",
	Message:   finding.NodeSelectorTwice.Text + ": write into driver.nodeSelector and executor.nodeSelector what is to hold for both",
}

// templatesOf requires a version of Spark that has pod templates.
func templatesOf(role string) apiextensionsv1.ValidationRule {
	return apiextensionsv1.ValidationRule{
		Rule: fmt.Sprintf("!has(self.%[1]s) || !has(self.%[1]s.template) || "+
			"!has(self.sparkVersion) || !self.sparkVersion.matches('^v?[0-2][.]')", role),
		MessageExpression: fmt.Sprintf(`'%s: sparkVersion is "' + self.sparkVersion + '". Correct it, or leave %s.template out'`,
			finding.TemplateUnsupported.Text, role),
	}
}
