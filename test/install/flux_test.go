package install

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firesteel-dev/firesteel/test/harness/recorded"
	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/kustomize"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/ext"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

// fluxObjects decodes the objects of an example of Flux, by their kinds. A field that Flux does not know would have no effect.
func fluxObjects(t *testing.T, file string) map[string]any {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]any{}
	for document := range strings.SplitSeq(string(text), "\n---\n") {
		var meta metav1.TypeMeta
		if err := yaml.Unmarshal([]byte(document), &meta); err != nil {
			t.Fatal(err)
		}
		var typed any
		switch meta.GroupVersionKind() {
		case sourcev1.GroupVersion.WithKind(sourcev1.OCIRepositoryKind):
			typed = &sourcev1.OCIRepository{}
		case helmv2.GroupVersion.WithKind(helmv2.HelmReleaseKind):
			typed = &helmv2.HelmRelease{}
		case kustomizev1.GroupVersion.WithKind(kustomizev1.KustomizationKind):
			typed = &kustomizev1.Kustomization{}
		default:
			t.Fatalf("%s: Flux has no %s", file, meta.GroupVersionKind())
		}
		if err := yaml.UnmarshalStrict([]byte(document), typed); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		found[meta.Kind] = typed
	}
	return found
}

func TestFluxKnowsEveryFieldOfTheExamples(t *testing.T) {
	all := fluxObjects(t, "examples/flux/helmrelease.yaml")
	source, release := all["OCIRepository"].(*sourcev1.OCIRepository), all["HelmRelease"].(*helmv2.HelmRelease)
	if ref := release.Spec.ChartRef; ref == nil || ref.Kind != sourcev1.OCIRepositoryKind || ref.Name != source.Name || release.Namespace != source.Namespace {
		t.Errorf("the release has the chart %+v, and the source is %s/%s", ref, source.Namespace, source.Name)
	}
	fluxObjects(t, "examples/flux/kustomization.yaml")
}

// healthChecks returns the health checks of the example by the kinds that they are for.
func healthChecks(t *testing.T) map[schema.GroupKind]kustomize.CustomHealthCheck {
	t.Helper()
	checks := map[schema.GroupKind]kustomize.CustomHealthCheck{}
	for _, check := range fluxObjects(t, "examples/flux/kustomization.yaml")["Kustomization"].(*kustomizev1.Kustomization).Spec.HealthCheckExprs {
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
func fluxStatus(t *testing.T, check kustomize.CustomHealthCheck, o *object) string {
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
