package admission

import (
	"fmt"
	"path/filepath"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/cel/environment"
)

// admissionPolicy is a policy of config, compiled by the API server's own code.
type admissionPolicy struct {
	*admissionregistrationv1.ValidatingAdmissionPolicy
	validator validating.Validator
}

// compiledPolicies are those that an earlier test has compiled.
var compiledPolicies = map[string]map[string]admissionPolicy{}

// admissionPolicies are the policies of a folder of config, by their names. They are compiled for a version of Kubernetes, once: that takes
// seconds.
func admissionPolicies(t testing.TB, folder string, kubernetes *version.Version) map[string]admissionPolicy {
	t.Helper()
	key := folder + " " + kubernetes.String()
	if known := compiledPolicies[key]; known != nil {
		return known
	}
	compiled := map[string]admissionPolicy{}
	compiledPolicies[key] = compiled
	for _, document := range documentsOf(t, folder) {
		if document.GetKind() != "ValidatingAdmissionPolicy" {
			continue
		}
		policy := &admissionregistrationv1.ValidatingAdmissionPolicy{}
		decodeInto(t, document, policy)
		compiled[policy.Name] = admissionPolicy{policy, compilePolicy(t, policy, kubernetes)}
	}
	return compiled
}

// documentsOf are the policies and Bindings of a folder of config.
func documentsOf(t testing.TB, folder string) []*unstructured.Unstructured {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("../../../config", folder, "400-*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("there is no policy in %s: %v", folder, err)
	}
	var all []*unstructured.Unstructured
	for _, file := range files {
		all = append(all, documents(t, file)...)
	}
	return all
}

// compilePolicy does what the API server's package does when it reads a policy. It fails for an expression that cannot be compiled: the API
// server refuses that when it is applied.
func compilePolicy(t testing.TB, policy *admissionregistrationv1.ValidatingAdmissionPolicy, kubernetes *version.Version) validating.Validator {
	t.Helper()
	base, err := cel.NewCompositionEnv(cel.VariablesTypeName, environment.MustBaseEnvSet(kubernetes))
	if err != nil {
		t.Fatal(err)
	}
	compiler := cel.NewCompositedCompilerFromTemplate(base)
	with := cel.OptionalVariableDeclarations{HasParams: policy.Spec.ParamKind != nil, HasAuthorizer: true}
	messagesWith := cel.OptionalVariableDeclarations{HasParams: policy.Spec.ParamKind != nil}
	check := func(what string, accessor cel.ExpressionAccessor, with cel.OptionalVariableDeclarations) {
		if result := compiler.CompileCELExpression(accessor, with, environment.NewExpressions); result.Error != nil {
			t.Errorf("%s: %s: %v", policy.Name, what, result.Error)
		}
	}
	for _, variable := range policy.Spec.Variables {
		accessor := &validating.Variable{Name: variable.Name, Expression: variable.Expression}
		check("the variable "+variable.Name, accessor, with)
		compiler.CompileAndStoreVariable(accessor, with, environment.NewExpressions)
	}
	var conditions, validations, messages []cel.ExpressionAccessor
	for i := range policy.Spec.MatchConditions {
		conditions = append(conditions, (*matchconditions.MatchCondition)(&policy.Spec.MatchConditions[i]))
	}
	for i, v := range policy.Spec.Validations {
		validations = append(validations, &validating.ValidationCondition{Expression: v.Expression, Message: v.Message, Reason: v.Reason})
		messages = append(messages, &validating.MessageExpressionCondition{MessageExpression: v.MessageExpression})
		check(fmt.Sprintf("the validation %d", i), validations[i], with)
		check(fmt.Sprintf("the message of the validation %d", i), messages[i], messagesWith)
	}
	matcher := matchconditions.NewMatcher(
		compiler.CompileCondition(conditions, with, environment.NewExpressions), policy.Spec.FailurePolicy, "policy", "validate", policy.Name)
	return validating.NewValidator(
		compiler.CompileCondition(validations, with, environment.NewExpressions), matcher,
		compiler.CompileCondition(nil, with, environment.NewExpressions),
		compiler.CompileCondition(messages, messagesWith, environment.NewExpressions), policy.Spec.FailurePolicy)
}

// decisions are those of a policy about an object, of which old is the one before.
func (p admissionPolicy) decisions(t testing.TB, object, old *unstructured.Unstructured, settings map[string]string, may authorizer.Authorizer) []validating.PolicyDecision {
	t.Helper()
	kind := object.GroupVersionKind()
	resource := kind.GroupVersion().WithResource(map[string]string{
		"SparkApplication": "sparkapplications", "ScheduledSparkApplication": "scheduledsparkapplications", "SparkCluster": "sparkclusters",
	}[kind.Kind])
	operation := admission.Create
	attributes := func() admission.Attributes {
		if old == nil {
			return admission.NewAttributesRecord(object, nil, kind, object.GetNamespace(), object.GetName(), resource, "", operation, nil, false, nil)
		}
		return admission.NewAttributesRecord(object, old, kind, object.GetNamespace(), object.GetName(), resource, "", admission.Update, nil, false, nil)
	}()
	versioned := &admission.VersionedAttributes{Attributes: attributes, VersionedKind: kind, VersionedObject: object}
	if old != nil {
		versioned.VersionedOldObject = old
	}
	params := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "config"}}}
	if settings != nil {
		data := map[string]any{}
		for key, value := range settings {
			data[key] = value
		}
		params.Object["data"] = data
	}
	return p.validator.Validate(t.Context(), schema.GroupVersionResource(resource), versioned, params,
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: object.GetNamespace()}}, celconfig.RuntimeCELCostBudget, may).Decisions
}

// The oldest version that Firesteel's policies are for knows all that they use.
func TestAdmissionPoliciesCompile(t *testing.T) {
	for _, folder := range []string{"admission", "admission-accounts", "admission-warnings"} {
		admissionPolicies(t, folder, version.MajorMinor(1, 30))
	}
}
