package policy_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/pkg/policy"
)

// The page for operators has the table of the rules.
func TestPageHasTheTableOfTheRules(t *testing.T) {
	page, err := os.ReadFile("../../docs/operators/admission.md")
	if err != nil {
		t.Fatal(err)
	}
	table := "| key | bounds |\n|---|---|\n"
	for _, rule := range policy.Table {
		table += fmt.Sprintf("| `%s` | %s |\n", rule.Key, rule.Bounds)
	}
	if !strings.Contains(string(page), table) {
		t.Errorf("docs/operators/admission.md needs this table:\n%s", table)
	}
}

// rowOf returns the row of a key.
func rowOf(t *testing.T, key string) *policy.Rule {
	t.Helper()
	for i := range policy.Table {
		if policy.Table[i].Key == key {
			return &policy.Table[i]
		}
	}
	t.Fatalf("the table lacks %s", key)
	return nil
}

func rules(t *testing.T, key, value string) policy.Rules {
	t.Helper()
	rules := policy.Rules{}
	if !rules.Set(rowOf(t, key), value) {
		t.Fatalf("%s %q is refused", key, value)
	}
	return rules
}

func TestValuesOfRulesAreChecked(t *testing.T) {
	for key, values := range map[string][2][]string{
		policy.KeyDenied:         {{"spark.master", "spark.a.*, spark.b", ""}, {"master", "spark.*.a", "a"}},
		policy.KeyExecutors:      {{"0", "100", " 7 "}, {"-1", "many", "1.5", "1e3", "9999999999"}},
		policy.KeyWorkers:        {{"20"}, {"x"}},
		policy.KeyDriverMemory:   {{"16g", "1024", "2GiB"}, {"1.5g", "0", "g", "16x"}},
		policy.KeyExecutorMemory: {{"16g"}, {"0m"}},
		policy.KeyDriverCores:    {{"1", "4.5", "2000m"}, {"0.5", "x", "1e3", "-1"}},
		policy.KeyExecutorCores:  {{"8"}, {"0"}},
		policy.KeyLabels:         {{"team", "team, example.com/cost"}, {"a/b/c", "-", "team=a"}},
		policy.KeyRegistries:     {{"registry.example.com", "localhost:5000/a/, docker.io/apache"}, {"apache", "apache/spark"}},
		policy.KeyTimeToLive:     {{"required", "optional"}, {"yes"}},
		policy.KeyHostPath:       {{"denied", "allowed"}, {"true"}},
		policy.KeyHostNamespaces: {{"denied"}, {"no"}},
		policy.KeyPrivileged:     {{"denied"}, {"x"}},
	} {
		rule := rowOf(t, key)
		for _, value := range values[0] {
			if !(policy.Rules{}).Set(rule, value) {
				t.Errorf("%s %q is refused", key, value)
			}
		}
		for _, value := range values[1] {
			if (policy.Rules{}).Set(rule, value) {
				t.Errorf("%s %q is accepted", key, value)
			}
		}
		if !(policy.Rules{}).Set(rule, rule.Example) {
			t.Errorf("the example of %s is refused", key)
		}
	}
}

func TestRulesThatAreOffRefuseNothing(t *testing.T) {
	m := &policy.Manifest{
		Images: []policy.Value{{Text: "x"}}, HostPaths: []policy.Value{{}}, TimeToLive: &policy.Value{},
		Executors: []policy.Value{{Text: "many"}}, Driver: &policy.Role{Memory: []policy.Value{{Text: "x"}}},
	}
	if found := (policy.Rules{}).Check(m); len(found) > 0 {
		t.Errorf("it finds %v", found)
	}
	for key, off := range map[string]string{policy.KeyTimeToLive: "optional", policy.KeyHostPath: "allowed", policy.KeyRegistries: "", policy.KeyExecutors: " "} {
		if found := rules(t, key, off).Check(m); len(found) > 0 {
			t.Errorf("%s %q finds %v", key, off, found)
		}
	}
}

// A rule that reads a variable that no API has would be in no policy, without an error.
func TestEachRuleIsInAPolicy(t *testing.T) {
	policies := policy.Policies()
	for _, rule := range policy.Table {
		name := policy.VariableName(rule.Key)
		if !slices.ContainsFunc(policies, func(p policy.Policy) bool {
			return slices.ContainsFunc(p.Variables, func(v policy.Variable) bool { return v.Name == name })
		}) {
			t.Errorf("no policy has the rule %s: does variables.go or apis.go have the variable that it reads?", rule.Key)
		}
	}
}

func TestFindingsOfRulesNameFieldValueAndRemedy(t *testing.T) {
	for want, test := range map[string]struct {
		key, value string
		manifest   policy.Manifest
	}{
		`spec.executor.instances "50" is not at most 10, as max-executors of config-admission demands: write a number up to it`: {
			policy.KeyExecutors, "10", policy.Manifest{Executors: []policy.Value{{Field: "spec.executor.instances", Text: "50"}}},
		},
		`spec.driver.memory "20g" makes 22528 MiB with what is added to it, and max-driver-memory of config-admission allows 16g: ask for less`: {
			policy.KeyDriverMemory, "16g", policy.Manifest{Driver: &policy.Role{
				Memory: []policy.Value{{Field: "spec.driver.memory", Text: "20g"}}, Factor: &policy.Value{Text: "0.1"},
			}},
		},
		`spec.driver.memory "1.5g" is no size, and max-driver-memory of config-admission bounds it: write one such as 4g`: {
			policy.KeyDriverMemory, "16g", policy.Manifest{Driver: &policy.Role{Memory: []policy.Value{{Field: "spec.driver.memory", Text: "1.5g"}}}},
		},
		`spec.image "spark" is from none of the allowed-registries of config-admission: name an image of one of them: a.example.com, b.example.com`: {
			policy.KeyRegistries, "a.example.com b.example.com", policy.Manifest{Images: []policy.Value{{Field: "spec.image", Text: "spark"}}},
		},
		`metadata.labels[team] is missing, and required-labels of config-admission has it: set it`: {policy.KeyLabels, "team", policy.Manifest{}},
		`spec.volumes[0].hostPath is a path of the node, and config-admission has host-path: denied: mount another kind of volume`: {
			policy.KeyHostPath, "denied", policy.Manifest{HostPaths: []policy.Value{{Field: "spec.volumes[0].hostPath"}}},
		},
		`the operator's default spark.executor.cores "9" is not at most 8, as max-executor-cores of config-admission demands: write a number up to it`: {
			policy.KeyExecutorCores, "8", policy.Manifest{Executor: &policy.Role{Cores: []policy.Value{{Source: "the operator's default spark.executor.cores", Text: "9"}}}},
		},
	} {
		found := rules(t, test.key, test.value).Check(&test.manifest)
		if len(found) != 1 || found[0].Error() != want || found[0].Reason == "" {
			t.Errorf("found %v, want %q", found, want)
		}
	}
}

func TestASwitchThatMayBeOnCountsAsOn(t *testing.T) {
	for value, unbounded := range map[string]bool{
		"true": true, "TRUE": true, "${spark.on}": true, "\u0001true": true, "false": false, " False ": false, "": false, " ": false,
	} {
		p := policy.Properties{Given: map[string]string{"spark.dynamicAllocation.enabled": value, "spark.executor.instances": "1"}}
		found := rules(t, policy.KeyExecutors, "10").Check(&policy.Manifest{Executors: policy.ExecutorsOf(p, policy.ExecutorFields{})})
		if (len(found) > 0) != unbounded {
			t.Errorf("dynamic allocation %q: found %v", value, found)
		}
		p = policy.Properties{Given: map[string]string{"spark.memory.offHeap.enabled": value, "spark.memory.offHeap.size": "9g"}}
		found = rules(t, policy.KeyExecutorMemory, "4g").Check(&policy.Manifest{Executor: policy.RoleOf("executor", p, policy.RoleFields{})})
		if (len(found) > 0) != unbounded {
			t.Errorf("off-heap memory %q: found %v", value, found)
		}
	}
}

func TestAnImageThatASubmissionMayReplaceIsFromNoRegistry(t *testing.T) {
	allowed := rules(t, policy.KeyRegistries, "registry.example.com, docker.io")
	for image, want := range map[string]bool{
		"spark": true, "apache/spark:{{SPARK_VERSION}}": true, "registry.example.com/a/b:v{{SPARK_VERSION}}-java": true, "registry.example.com/a@sha256:1": true,
		"${spark.image}": false, "apache/spark:${spark.image}": false, "{{SPARK_VERSION}}/spark": false, "registry.example.com/{{SPARK_VERSION}}/a": false,
		"a:{{SPARK_VERSION}}/spark": false, "Apache/spark": false, "registry.example.com:5000/a": false,
	} {
		if found := allowed.Check(&policy.Manifest{Images: []policy.Value{{Text: image}}}); (len(found) == 0) != want {
			t.Errorf("%s: found %v", image, found)
		}
	}
}

func TestOverheadIsThatOfTheFirstNameWithoutAMinimum(t *testing.T) {
	for _, role := range []string{"driver", "executor"} {
		name, yarn, least := "spark."+role+".memoryOverhead", "spark.yarn."+role+".memoryOverhead", "spark."+role+".minMemoryOverhead"
		for want, p := range map[string]policy.Properties{
			"1g 2g":      {Given: map[string]string{yarn: "2g"}},
			"1g 3g":      {Defaults: map[string]string{yarn: "3g", least: "9g"}},
			"1g 4g":      {Given: map[string]string{yarn: "2g", name: "4g", least: "9g"}},
			"1g 5g":      {Given: map[string]string{yarn: "2g"}, Defaults: map[string]string{name: "5g"}},
			"1g 6g":      {Given: map[string]string{least: "6g"}},
			"1g 8g":      {Given: map[string]string{yarn: "8g", "": "1m"}},
			"1g":         {},
			"1g 7g fact": {Given: map[string]string{least: "7g", "spark." + role + ".memoryOverheadFactor": "fact"}},
		} {
			r := policy.RoleOf(role, p, policy.RoleFields{})
			var texts []string
			for _, v := range r.Memory {
				texts = append(texts, v.Text)
			}
			if r.Factor != nil {
				texts = append(texts, r.Factor.Text)
			}
			if got := strings.Join(texts, " "); got != want {
				t.Errorf("%s with %v: %s, want %s", role, p, got, want)
			}
		}
	}
}

func TestTemplateBehindAURLIsCheckedForWhatPodsHave(t *testing.T) {
	all := policy.Rules{}
	for i := range policy.Table {
		all.Set(&policy.Table[i], policy.Table[i].Example)
	}
	found := all.CheckPod(&corev1.PodSpec{HostNetwork: true, Containers: []corev1.Container{{Image: "x"}}})
	if len(found) != 2 || found[0].Field != "spec.containers[0].image" || found[1].Field != "spec.hostNetwork" {
		t.Errorf("it finds %v", found)
	}
}
