package admission_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiadmission "k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/cel/environment"
	"sigs.k8s.io/yaml"
)

// shownManifests reports whether the API server shows an application to the webhook, by the conditions of the manifest.
func shownManifests(t *testing.T) func(username, object, old string) bool {
	t.Helper()
	text, err := os.ReadFile("../../config/webhook/600-validation.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var configuration admissionregistrationv1.ValidatingWebhookConfiguration
	if err := yaml.Unmarshal(text, &configuration); err != nil {
		t.Fatal(err)
	}
	manifests := configuration.Webhooks[0]
	var conditions []cel.ExpressionAccessor
	for _, condition := range manifests.MatchConditions {
		converted := matchconditions.MatchCondition(condition)
		conditions = append(conditions, &converted)
	}
	compiled := cel.NewConditionCompiler(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion())).CompileCondition(
		conditions, cel.OptionalVariableDeclarations{HasAuthorizer: true}, environment.NewExpressions)
	matcher := matchconditions.NewMatcher(compiled, manifests.FailurePolicy, "webhook", "validate", manifests.Name)
	kind := schema.GroupVersionKind{Group: "spark.apache.org", Version: "v1", Kind: "SparkApplication"}
	return func(username, object, old string) bool {
		t.Helper()
		operation, before := apiadmission.Create, runtime.Object(nil)
		if old != "" {
			operation, before = apiadmission.Update, unstructuredOf(t, old)
		}
		attributes := &apiadmission.VersionedAttributes{
			Attributes: apiadmission.NewAttributesRecord(unstructuredOf(t, object), before, kind, "team-a", "pi",
				kind.GroupVersion().WithResource("sparkapplications"), "", operation, nil, false, &user.DefaultInfo{Name: username}),
			VersionedKind: kind, VersionedObject: unstructuredOf(t, object), VersionedOldObject: before,
		}
		result := matcher.Match(t.Context(), attributes, nil, nil)
		if result.Error != nil {
			t.Fatal(result.Error)
		}
		return result.Matches
	}
}

func unstructuredOf(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	object := &unstructured.Unstructured{}
	if err := json.Unmarshal([]byte(text), &object.Object); err != nil {
		t.Fatal(err)
	}
	return object
}

func TestManifestsAreShownThatUsersWrite(t *testing.T) {
	shown := shownManifests(t)
	const handler = "system:serviceaccount:firesteel-system:schedule-handler"
	const ofAnother = "system:serviceaccount:firesteel-team-b:schedule-handler"
	of := func(kind, controller string) string {
		owner := `{"apiVersion":"firesteel.dev/v1alpha1","kind":"` + kind + `","name":"daily","uid":"1"` + controller + `}`
		return strings.Replace(manifestOf(good), `"name":"pi"`, `"name":"pi","ownerReferences":[`+owner+`]`, 1)
	}
	run := of("ScheduledSparkApplication", `,"controller":true`)
	for name, test := range map[string]struct {
		username, object, old string
		want                  bool
	}{
		"a user creates":                    {"alice", manifestOf(good), "", true},
		"a user edits the spec":             {"alice", manifestOf(bad), manifestOf(good), true},
		"a user edits the metadata":         {"alice", run, manifestOf(good), false},
		"a user edits the spec of a run":    {"alice", strings.Replace(run, "4.0.1", "4.1.1", 1), run, true},
		"an owner that is no schedule":      {"alice", of("Workflow", `,"controller":true`), "", true},
		"a schedule that does not control":  {"alice", of("ScheduledSparkApplication", ""), "", true},
		"the handler creates a run":         {handler, run, "", false},
		"the handler of another one does":   {ofAnother, run, "", false},
		"the other one's service account":   {ofAnother, manifestOf(good), "", true},
		"an edit while the object is ended": {"alice", strings.Replace(manifestOf(bad), `"name"`, `"deletionTimestamp":"2026-01-01T00:00:00Z","name"`, 1), manifestOf(good), false},
	} {
		if got := shown(test.username, test.object, test.old); got != test.want {
			t.Errorf("%s: shown is %t", name, got)
		}
	}
}
