package admission

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"

	earlyv1alpha1 "github.com/firesteel-dev/firesteel/pkg/apis/early/v1alpha1"
	firesteelv1alpha1 "github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/cluster/status"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
	"github.com/firesteel-dev/firesteel/pkg/dialect/early"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow"
	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/policy"
	"github.com/firesteel-dev/firesteel/pkg/schedule/variant"
	"github.com/firesteel-dev/firesteel/test/harness/rng"
)

// kind is a kind of objects that policies judge.
type kind struct {
	apiVersion, kind string
	// policy is the API of its policies.
	policy string
	// template is where a schedule has the spec of its runs; empty for another kind.
	template []string
	// base are the fields that an object has to have.
	base string
}

var kinds = map[string]kind{
	"apache":            {"spark.apache.org/v1", "SparkApplication", "spark", nil, "{}"},
	"apache schedule":   {"firesteel.dev/v1alpha1", "ScheduledSparkApplication", "spark", []string{"template", "spec"}, `{"schedule": "@daily"}`},
	"cluster":           {"spark.apache.org/v1", "SparkCluster", "sparkcluster", nil, `{"clusterTolerations": {"instanceConfig": {"initWorkers": 1, "minWorkers": 1, "maxWorkers": 1}}}`},
	"kubeflow":          {"sparkoperator.k8s.io/v1beta2", "SparkApplication", "sparkoperator", nil, "{}"},
	"kubeflow schedule": {"sparkoperator.k8s.io/v1beta2", "ScheduledSparkApplication", "sparkoperator", []string{"template"}, `{"schedule": "@daily"}`},
	"early":             {"spark-operator.k8s.io/v1alpha1", "SparkApplication", "early", nil, "{}"},
}

// object makes an object of a spec, which is that of the runs for a schedule.
func (k kind) object(t testing.TB, spec map[string]any, labels map[string]string) *unstructured.Unstructured {
	t.Helper()
	base := map[string]any{}
	if err := json.Unmarshal([]byte(k.base), &base); err != nil {
		t.Fatal(err)
	}
	if len(k.template) > 0 {
		if err := unstructured.SetNestedMap(base, normal(t, spec), k.template...); err != nil {
			t.Fatal(err)
		}
	} else {
		maps.Copy(base, normal(t, spec))
	}
	object := &unstructured.Unstructured{Object: normal(t, map[string]any{"apiVersion": k.apiVersion, "kind": k.kind, "spec": base})}
	object.SetNamespace("team-a")
	object.SetName("pi")
	object.SetUID("1")
	object.SetLabels(labels)
	return object
}

// normal makes values what JSON decodes to.
func normal(t testing.TB, value map[string]any) map[string]any {
	t.Helper()
	encoded, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON([]byte(`{"apiVersion":"v1","kind":"X","value":` + string(encoded) + `}`)); err != nil {
		t.Fatal(err)
	}
	return object.Object["value"].(map[string]any)
}

// found is what the controller finds about an object.
func (k kind) found(t testing.TB, object *unstructured.Unstructured, settings *config.Config) finding.List {
	t.Helper()
	if len(k.template) > 0 {
		object = k.run(t, object)
	}
	encoded, err := object.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	var app dialect.Application
	var d dialect.Dialect
	switch object.GroupVersionKind().GroupKind().String() {
	case "SparkCluster.spark.apache.org":
		c := &sparkv1.SparkCluster{}
		if err := json.Unmarshal(encoded, c); err != nil || c.Undecodable != "" {
			t.Fatalf("%v, %s: %s", err, c.Undecodable, encoded)
		}
		return status.Invalid(c, settings.Admission.Rules)
	case "SparkApplication.spark.apache.org":
		app, d = &sparkv1.SparkApplication{}, apache.New(settings.OfApache())
	case "SparkApplication.sparkoperator.k8s.io":
		app, d = &v1beta2.SparkApplication{}, kubeflow.New(settings.OfKubeflow())
	default:
		app, d = &earlyv1alpha1.SparkApplication{}, early.New(settings.OfEarly())
	}
	if err := json.Unmarshal(encoded, app); err != nil || app.GetUndecodable() != "" {
		t.Fatalf("%v, %s: %s", err, app.GetUndecodable(), encoded)
	}
	return d.Invalid(app)
}

// run is a run of a schedule.
func (k kind) run(t testing.TB, object *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	encoded, err := object.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	var given variant.Schedule = &firesteelv1alpha1.ScheduledSparkApplication{}
	of := variant.Apache
	if strings.HasPrefix(k.apiVersion, "sparkoperator") {
		given, of = &v1beta2.ScheduledSparkApplication{}, variant.Kubeflow
	}
	if err := json.Unmarshal(encoded, given); err != nil || given.GetUndecodable() != "" {
		t.Fatalf("%v, %s: %s", err, given.GetUndecodable(), encoded)
	}
	run, err := of.NewRun(given, time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// settingsOf reads config-admission and config-kubeflow.
func settingsOf(t testing.TB, admission, kubeflow map[string]string) *config.Config {
	t.Helper()
	settings := config.Default()
	var err, err2 error
	settings.Admission, err = config.NewAdmission(configMap(admission))
	settings.Kubeflow, err2 = config.NewKubeflow(configMap(kubeflow))
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	return settings
}

// verdict is what a policy says of each rule: the message, which is empty if it passes.
func verdict(t testing.TB, p admissionPolicy, decisions []validating.PolicyDecision) map[string]string {
	t.Helper()
	if len(decisions) != len(p.Spec.Validations) {
		t.Fatalf("%s: %d decisions of %d validations: %+v", p.Name, len(decisions), len(p.Spec.Validations), decisions)
	}
	said := map[string]string{}
	for i, decision := range decisions {
		if decision.Evaluation == validating.EvalError {
			t.Fatalf("%s: %s", p.Name, decision.Message)
		}
		if decision.Evaluation == validating.EvalDeny {
			said[p.Spec.Validations[i].Expression] = decision.Message
		}
	}
	return said
}

// compare compares what the policy and the controller say of an object, rule by rule. It returns what the policy says.
func compare(
	t testing.TB, policies map[string]admissionPolicy, k kind, object *unstructured.Unstructured, admission map[string]string,
) map[string]string {
	t.Helper()
	p := policies[k.policy+"-rules.firesteel.dev"]
	said := verdict(t, p, p.decisions(t, object, nil, admission, nil))
	found := k.found(t, object, settingsOf(t, admission, nil))
	if k.policy == "sparkoperator" {
		properties := policies["sparkoperator-properties.firesteel.dev"]
		denied := len(verdict(t, properties, properties.decisions(t, object, nil, nil, nil))) > 0
		if refused := slices.ContainsFunc(found, func(f finding.Finding) bool { return f.Reason == "DeniedProperty" }); denied != refused {
			t.Errorf("the policy denies its properties: %t, the controller: %t", denied, refused)
		}
	}
	for _, rule := range policy.Table {
		expression := "size(variables." + policy.VariableName(rule.Key) + ") == 0"
		message, denied := said[expression]
		at := slices.IndexFunc(found, func(f finding.Finding) bool {
			if k.policy == "sparkoperator" && rule.Key == policy.KeyDenied {
				return false
			}
			return f.Reason == rule.Reason && strings.Contains(f.Error(), rule.Key)
		})
		if denied != (at >= 0) {
			text, _ := object.MarshalJSON()
			t.Errorf("%s: the policy says %q, the controller %v, of %s with %v", rule.Key, message, found, text, admission)
		}
		if denied && message == "" {
			t.Errorf("%s: the policy says nothing", rule.Key)
		}
	}
	return said
}

func configMap(data map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "config"}, Data: data}
}

// Each rule of the table is broken and kept by random objects of each kind, and the policy and the controller agree.
func TestVerdictsOfPolicyAndControllerAreEqualForRandomObjects(t *testing.T) {
	policies := admissionPolicies(t, "admission", version.MajorMinor(1, 35))
	draws := rng.New(seed(t), "policies")
	for name, k := range kinds {
		t.Run(name, func(t *testing.T) {
			var unbroken []string
			for _, v := range policies[k.policy+"-rules.firesteel.dev"].Spec.Validations {
				if !strings.HasSuffix(v.Expression, "Valid") && !strings.Contains(v.Expression, "variables.excess") { // random objects are small
					unbroken = append(unbroken, v.Expression)
				}
			}
			const least, most = 80, 2000 // objects; a rule that is seldom broken needs more
			for n := 0; n < least || n < most && len(unbroken) > 0; n++ {
				object, admission := k.random(t, draws)
				said := compare(t, policies, k, object, admission)
				if t.Failed() {
					return
				}
				unbroken = slices.DeleteFunc(unbroken, func(expression string) bool { _, broken := said[expression]; return broken })
			}
			for _, expression := range unbroken {
				t.Errorf("no object breaks %s", expression)
			}
		})
	}
}
