package dialect_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

func TestServiceAccountOfTheSettings(t *testing.T) {
	const key = "spark.kubernetes.authenticate.driver.serviceAccountName"
	template := func(spec corev1.PodSpec) *corev1.PodTemplateSpec { return &corev1.PodTemplateSpec{Spec: spec} }
	for name, test := range map[string]struct {
		plan    submission.Plan
		setting string
		want    string
	}{
		"no setting":                    {submission.Plan{}, "", ""},
		"nothing named":                 {submission.Plan{}, "spark", "spark"},
		"a property":                    {submission.Plan{Properties: map[string]string{key: "own"}}, "spark", "own"},
		"a template":                    {submission.Plan{DriverTemplate: template(corev1.PodSpec{ServiceAccountName: "own"})}, "spark", ""},
		"a template with the old field": {submission.Plan{DriverTemplate: template(corev1.PodSpec{DeprecatedServiceAccount: "own"})}, "spark", ""},
		"a template without an account": {submission.Plan{DriverTemplate: template(corev1.PodSpec{})}, "spark", "spark"},
	} {
		t.Run(name, func(t *testing.T) {
			plan := test.plan
			if plan.Properties == nil {
				plan.Properties = map[string]string{}
			}
			dialect.ApplySettings(&plan, &metav1.ObjectMeta{}, v1alpha1.Attempt{}, dialect.Settings{DriverServiceAccount: test.setting})
			if got := plan.Properties[key]; got != test.want {
				t.Errorf("the property is %q, want %q", got, test.want)
			}
		})
	}
}

func TestServiceAccountThatIsNotNamedIsWarnedOf(t *testing.T) {
	driver := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a"}}
	fields := dialect.Fields{ServiceAccount: "spec.driver.serviceAccount", Settings: "config-kubeflow"}
	warning := strings.Join(dialect.WarnOfUnnamedAccount(driver, fields).Sentences(), " ")
	for _, part := range []string{"spec.driver.serviceAccount", "config-kubeflow", "team-a/default", "kubectl spark namespace team-a", "--serviceaccount=team-a:default"} {
		if !strings.Contains(warning, part) {
			t.Errorf("%q does not contain %q", warning, part)
		}
	}
	driver.Spec.ServiceAccountName = "spark"
	if warnings := dialect.WarnOfUnnamedAccount(driver, fields); len(warnings) > 0 {
		t.Errorf("a named account is warned of: %s", warnings)
	}
}
