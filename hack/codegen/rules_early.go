package main

import (
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/utils/ptr"
)

// earlyRefinements refuse names that a Service cannot have, and two spellings of one field with different values.
var earlyRefinements = slices.Concat(
	[]refinement{
		{rules: rules(beginsServices)},
		{path: "spec", rules: rules(oneValue("sparkConigMap", "sparkConfigMap"), oneValue("hadoopConigMap", "hadoopConfigMap"))},
		{path: "spec.deps", rules: rules(oneValue("jarFiles", "jars"))},
	},
	spellingsOf("driver"), spellingsOf("executor"),
)

// spellingsOf returns the refinements of a role.
func spellingsOf(role string) []refinement {
	first, older := role+"ConigMaps", role+"ConfigMaps"
	return slices.Concat([]refinement{
		{path: "spec." + role + ".cores", schema: &scalar},
		{path: "spec." + role, rules: rules(
			oneValue(first, older), oneValue(first, "configMaps"), oneValue(older, "configMaps"),
			oneValue(role+"Secrets", "secrets"), oneValue(role+"EnvVars", "envVars"),
		)},
	}, secretsOf("spec."+role+"."+role+"Secrets"), secretsOf("spec."+role+".secrets"))
}

// secretsOf returns the refinements of a list of secrets.
func secretsOf(list string) []refinement {
	return []refinement{
		{path: list + "[].secretType", schema: &secretType},
		{path: list + "[].type", schema: &secretType},
		{path: list + "[]", rules: rules(oneValue("type", "secretType"))},
	}
}

// secretType is the schema of a secret's type. Its length bounds what the rule about it costs.
var secretType = apiextensionsv1.JSONSchemaProps{Type: "string", MaxLength: ptr.To[int64](63)}

// oneValue requires that two spellings of a field have the same value.
func oneValue(older, newer string) apiextensionsv1.ValidationRule {
	return apiextensionsv1.ValidationRule{
		// CEL has another type for the objects of each list.
		Rule:      fmt.Sprintf("!has(self.%[1]s) || !has(self.%[2]s) || dyn(self.%[1]s) == dyn(self.%[2]s)", older, newer),
		FieldPath: "." + older,
		Message:   fmt.Sprintf("%s and %s are two spellings of one field and have different values: leave one of them out", older, newer),
	}
}
