package admission

import (
	"encoding/json"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"

	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/policy"
)

// denials are the messages of what a policy refuses. It fails for an expression that has no value.
func denials(t testing.TB, decisions []validating.PolicyDecision) []string {
	t.Helper()
	var messages []string
	for _, decision := range decisions {
		switch decision.Evaluation {
		case validating.EvalError:
			t.Errorf("an error: %s", decision.Message)
		case validating.EvalDeny:
			messages = append(messages, decision.Message)
		}
	}
	return messages
}

// specOf decodes a spec.
func specOf(t testing.TB, text string) map[string]any {
	t.Helper()
	spec := map[string]any{}
	if err := json.Unmarshal([]byte(text), &spec); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return spec
}

// A policy judges an object with the values of config-admission that the controller takes, and no other.
func TestAnInvalidSettingIsRefusedInTheWordsOfTheControllerAndNothingElseIs(t *testing.T) {
	policies := admissionPolicies(t, "admission", version.MajorMinor(1, 35))
	long := strings.Repeat("x", 2000)
	remedies := map[string]string{}
	for _, rule := range policy.Table {
		remedies[rule.Key] = rule.Remedy
	}
	for key, values := range map[string][]string{
		policy.KeyDenied:         {"spark.master", "spark.a.*, spark.b", "master", "spark.*.a", "spark.a**", "a"},
		policy.KeyExecutors:      {"0", "100", " 7 ", "-1", "many", "1.5", "1e3", "9999999999", "1\n2", long},
		policy.KeyWorkers:        {"20", "x"},
		policy.KeyDriverMemory:   {"16g", "1024", "2GiB", "1.5g", "0", "g", "16x"},
		policy.KeyExecutorMemory: {"16g", "0m", "000k"},
		policy.KeyDriverCores:    {"1", "4.5", "2000m", "0.5", "500m", "x", "1e3", "-1"},
		policy.KeyExecutorCores:  {"8", "0"},
		policy.KeyLabels: {
			"team", "team, example.com/cost", "a/b/c", "-", "team=a", "/a", "A.b/c", strings.Repeat("a", 63), strings.Repeat("a", 64),
			strings.Repeat("a", 253) + "/b", strings.Repeat("a", 254) + "/b",
		},
		policy.KeyRegistries:     {"registry.example.com", "localhost:5000/a/, docker.io/apache", "Registry", "apache", "apache/spark", "/", "localhost"},
		policy.KeyTimeToLive:     {"required", "optional", "yes"},
		policy.KeyHostPath:       {"denied", "allowed", "true"},
		policy.KeyHostNamespaces: {"denied", "no"},
		policy.KeyPrivileged:     {"denied", "x"},
	} {
		of := kinds["apache"]
		if key == policy.KeyWorkers {
			of = kinds["cluster"]
		}
		p := policies[of.policy+"-rules.firesteel.dev"]
		object := of.object(t, map[string]any{}, nil)
		for _, value := range values {
			var said []string
			for _, message := range denials(t, p.decisions(t, object, nil, map[string]string{key: value}, nil)) {
				if strings.HasPrefix(message, "config-admission: ") {
					said = append(said, message)
				} else if key != policy.KeyLabels && key != policy.KeyTimeToLive && key != policy.KeyDriverMemory && key != policy.KeyExecutors {
					t.Errorf("%s %q: %s", key, value, message)
				}
			}
			_, err := config.NewAdmission(configMap(map[string]string{key: value}))
			switch {
			case (err != nil) != (len(said) > 0):
				t.Errorf("%s %q: the policy says %q, the controller %v", key, value, said, err)
			case err != nil && (len(said) != 1 || !strings.HasSuffix(said[0], ": "+remedies[key]) || len(value) < 100 && !strings.Contains(said[0], key+` is "`+strings.ReplaceAll(value, "\n", " ")+`"`)):
				t.Errorf("%s %q: the policy says %q", key, value, said)
			}
		}
	}
}

func TestWhatASubmissionReplacesIsRefusedWhereItCouldBreakARule(t *testing.T) {
	policies := admissionPolicies(t, "admission", version.MajorMinor(1, 35))
	settings := map[string]string{policy.KeyExecutors: "10", policy.KeyRegistries: "registry.example.com, docker.io", policy.KeyDriverMemory: "2g", policy.KeyExecutorMemory: "2g"}
	for key, values := range map[string]map[string]bool{
		"spark.dynamicAllocation.enabled": {"false": false, " FALSE ": false, "": false, "true": true, "${spark.on}": true, "\u0001true": true}, //nolint:gocritic // Spark trims values
		"spark.kubernetes.container.image": {
			"apache/spark:{{SPARK_VERSION}}": false, "registry.example.com:5000/spark@sha256:1": true, "registry.example.com/spark@sha256:1": false,
			"${spark.image}": true, "apache/spark:${spark.image}": true, "{{SPARK_VERSION}}/spark": true, "registry.example.com/{{SPARK_VERSION}}/spark": true,
			"a:{{SPARK_VERSION}}/spark": true, "Apache/spark": true, "apache/spark": false,
		},
		"spark.yarn.driver.memoryOverhead":   {"512m": false, "2g": true},
		"spark.yarn.executor.memoryOverhead": {"512m": false, "2g": true},
		"spark.driver.memoryOverhead":        {"512m": false, "2g": true, "${spark.a}": true},
	} {
		for value, want := range values {
			for _, name := range []string{"apache", "kubeflow schedule", "early"} {
				k := kinds[name]
				object := k.object(t, map[string]any{"sparkConf": map[string]any{key: value}}, nil)
				if said := compare(t, policies, k, object, settings); (len(said) > 0) != want {
					t.Errorf("%s %s %q: refused by %v", name, key, value, said)
				}
			}
		}
	}
	// The name of today wins, and an overhead that is named has no minimum.
	for _, conf := range []map[string]any{
		{"spark.driver.memoryOverhead": "512m", "spark.yarn.driver.memoryOverhead": "9g"},
		{"spark.driver.memoryOverhead": "512m", "spark.driver.minMemoryOverhead": "9g"},
	} {
		if said := compare(t, policies, kinds["apache"], kinds["apache"].object(t, map[string]any{"sparkConf": conf}, nil), settings); len(said) > 0 {
			t.Errorf("%v is refused: %v", conf, said)
		}
	}
}

// The templates of schedules have no schema: nothing in them makes an expression fail.
func TestValuesOfTemplatesWithoutASchemaAreJudged(t *testing.T) {
	policies := admissionPolicies(t, "admission", version.MajorMinor(1, 35))
	settings := map[string]string{}
	for _, rule := range policy.Table {
		settings[rule.Key] = rule.Example
	}
	for name, test := range map[string]struct{ kind, spec, refused string }{
		"a truth":        {"kubeflow schedule", `{"timeToLiveSeconds": 1, "sparkConf": {"spark.dynamicAllocation.enabled": true}}`, "maxExecutors"},
		"a falsehood":    {"kubeflow schedule", `{"timeToLiveSeconds": 1, "sparkConf": {"spark.dynamicAllocation.enabled": false, "spark.memory.offHeap.enabled": null}}`, ""},
		"a number":       {"kubeflow schedule", `{"timeToLiveSeconds": 1, "sparkConf": {"spark.executor.instances": 101}}`, "spark.executor.instances"},
		"a null":         {"kubeflow schedule", `{"timeToLiveSeconds": 1, "sparkConf": {"spark.executor.instances": null}}`, "spark.executor.instances"},
		"null images":    {"kubeflow schedule", `{"timeToLiveSeconds": 1, "image": null, "driver": {"sidecars": [{"name": null, "image": null}], "initContainers": null}}`, ""},
		"a nameless one": {"kubeflow schedule", `{"timeToLiveSeconds": 1, "driver": {"sidecars": [{"name": null, "image": "evil.example.com/a"}]}}`, "evil.example.com/a"},
		"null volumes": {
			"apache schedule", `{"applicationTolerations": {"ttlAfterStopMillis": 1}, "driverSpec": {"podTemplateSpec": {"spec": {"volumes": [null, {"name": null, "hostPath": null}], "containers": [null, {"image": null, "name": null}]}}}}`,
			"",
		},
		"a nameless volume": {
			"apache schedule", `{"applicationTolerations": {"ttlAfterStopMillis": 1}, "driverSpec": {"podTemplateSpec": {"spec": {"volumes": [{"name": null, "hostPath": {"path": "/"}}]}}}}`,
			"is a path of the node",
		},
	} {
		k := kinds[test.kind]
		object := k.object(t, specOf(t, test.spec), map[string]string{"team": "a", "cost-center": "b"})
		said := strings.Join(denials(t, policies[k.policy+"-rules.firesteel.dev"].decisions(t, object, nil, settings, nil)), "; ")
		if (said != "") != (test.refused != "") || !strings.Contains(said, test.refused) {
			t.Errorf("%s: it is refused by %q, want %q", name, said, test.refused)
		}
	}
	nameless := kinds["apache schedule"].object(t, specOf(t, `{"applicationTolerations": {"ttlAfterStopMillis": 1}}`), map[string]string{"team": "a", "cost-center": "b"})
	set(nameless.Object, []string{"spec", "template", "metadata", "labels"}, map[string]any{"team": nil})
	if said := denials(t, policies["spark-rules.firesteel.dev"].decisions(t, nameless, nil, settings, nil)); len(said) != 1 || !strings.Contains(said[0], "metadata.labels[team] is missing") {
		t.Errorf("a label that is null in the template: %q", said)
	}
}

// Whatever the rules are by now, an object can be suspended and resumed, and lose its finalizers.
func TestPoliciesJudgeNoUpdateThatChangesSuspendAlone(t *testing.T) {
	for _, folder := range []string{"admission", "admission-accounts", "admission-warnings"} {
		policies := admissionPolicies(t, folder, version.MajorMinor(1, 30))
		for name, k := range kinds {
			old := k.object(t, map[string]any{"sparkConf": map[string]any{"spark.driver.host": "a"}}, nil)
			changed := func(path string, value any) *unstructured.Unstructured {
				object := old.DeepCopy()
				set(object.Object, strings.Split(path, "."), value)
				return object
			}
			removed := old.DeepCopy()
			unstructured.RemoveNestedField(removed.Object, "spec", "sparkConf")
			unstructured.RemoveNestedField(removed.Object, append([]string{"spec"}, append(k.template, "sparkConf")...)...)
			bare := old.DeepCopy()
			delete(bare.Object, "spec")
			both := changed("spec.suspend", true)
			set(both.Object, []string{"spec", "other"}, true)
			for _, update := range []struct {
				what        string
				old, object *unstructured.Unstructured
				judged      bool
			}{
				{"creation", nil, old, true},
				{"suspension", old, changed("spec.suspend", true), false},
				{"resumption", changed("spec.suspend", true), changed("spec.suspend", false), false},
				{"removal of suspend", changed("spec.suspend", true), old, false},
				{"a label", old, changed("metadata.labels.a", "b"), false},
				{"the finalizers of one without a spec", bare, bare, false},
				{"an edit", old, changed("spec.other", true), true},
				{"an edit with a suspension", old, both, true},
				{"a removal", old, removed, true},
			} {
				for _, p := range policies {
					if !strings.HasPrefix(p.Name, k.policy+"-") {
						continue
					}
					decisions := p.decisions(t, update.object, update.old, nil, usesOnly(""))
					if (len(decisions) > 0) != update.judged {
						t.Errorf("%s: %s of %s: %d decisions", p.Name, update.what, name, len(decisions))
					}
				}
			}
		}
	}
}

// The API server reads the ConfigMap of a policy before it asks what changed: without it, a refusal would keep finalizers.
func TestPoliciesRefuseNothingWithoutTheirConfigMap(t *testing.T) {
	bindings := 0
	for _, document := range documentsOf(t, "admission") {
		if document.GetKind() != "ValidatingAdmissionPolicyBinding" {
			continue
		}
		binding := &admissionregistrationv1.ValidatingAdmissionPolicyBinding{}
		decodeInto(t, document, binding)
		bindings++
		ref := binding.Spec.ParamRef
		if ref == nil || ref.ParameterNotFoundAction == nil || *ref.ParameterNotFoundAction != admissionregistrationv1.AllowAction {
			t.Errorf("%s: %+v", binding.Name, ref)
		}
	}
	if bindings == 0 {
		t.Error("there is no Binding")
	}
}
