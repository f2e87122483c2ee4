package install

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/firesteel-dev/firesteel/test/harness/recorded"
	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/ext"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

// healthCheck is an entry of healthCheckExprs of a Kustomization of Flux.
type healthCheck struct{ APIVersion, Kind, InProgress, Failed, Current string }

// healthChecks returns the health checks of the example by the kinds that they are for.
func healthChecks(t *testing.T) map[schema.GroupKind]healthCheck {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "examples/flux/kustomization.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var kustomization struct {
		Spec struct{ HealthCheckExprs []healthCheck }
	}
	if err := yaml.Unmarshal(text, &kustomization); err != nil {
		t.Fatal(err)
	}
	checks := map[schema.GroupKind]healthCheck{}
	for _, check := range kustomization.Spec.HealthCheckExprs {
		checks[schema.FromAPIVersionAndKind(check.APIVersion, check.Kind).GroupKind()] = check
	}
	return checks
}

// evaluate evaluates an expression as Flux does: it is parsed and not checked, and the fields of the object are its variables. An
// empty expression is false.
func evaluate(t *testing.T, expression string, o *object) bool {
	t.Helper()
	if expression == "" {
		return false
	}
	env, err := cel.NewEnv(
		cel.HomogeneousAggregateLiterals(), cel.EagerlyValidateDeclarations(true), cel.DefaultUTCTimeZone(true),
		cel.CrossTypeNumericComparisons(true), cel.OptionalTypes(), ext.Strings(), ext.Sets(), ext.Encoders())
	if err != nil {
		t.Fatal(err)
	}
	parsed, issues := env.Parse(expression)
	if issues != nil {
		t.Fatal(issues)
	}
	program, err := env.Program(parsed)
	if err != nil {
		t.Fatal(err)
	}
	result, _, err := program.Eval(o.Object)
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return result.Value() == true
}

// fluxStatus returns the status of an object in Flux, by its rules: an edit that was not seen, then inProgress, failed and current.
func fluxStatus(t *testing.T, check healthCheck, o *object) string {
	t.Helper()
	status, ok := o.Object["status"].(map[string]any)
	if !ok || len(status) == 0 {
		return "InProgress" // Flux cannot evaluate the expressions, and waits
	}
	if observed, ok := status["observedGeneration"].(int64); ok && observed != o.GetGeneration() {
		return "InProgress"
	}
	switch {
	case evaluate(t, check.InProgress, o):
		return "InProgress"
	case evaluate(t, check.Failed, o):
		return "Failed"
	case evaluate(t, check.Current, o):
		return "Current"
	default:
		return "InProgress"
	}
}

func TestFluxAssessesObjectsInEachState(t *testing.T) {
	want := map[recorded.Health]string{
		recorded.Progressing: "InProgress", recorded.Healthy: "Current", recorded.Suspended: "Current", recorded.Degraded: "Failed",
	}
	checks := healthChecks(t)
	for _, o := range recorded.All() {
		t.Run(o.Name, func(t *testing.T) {
			check, ok := checks[o.Object.GroupVersionKind().GroupKind()]
			if !ok {
				t.Fatal("the example has no health check for the kind")
			}
			if got := fluxStatus(t, check, o.Object); got != want[o.Health] {
				t.Errorf("it is %s, want %s", got, want[o.Health])
			}
		})
	}
}
