package admission

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"github.com/firesteel-dev/firesteel/pkg/policy"
)

// The API server takes requests of up to 3 MiB. A policy that costs more than it allows fails, and refuses the object in words of the API
// server: these are some of the objects that cost most.
const largest = int(celconfig.MaxRequestSizeBytes) - 10<<10

// allRules are settings with every rule on, and long lists.
var allRules = map[string]string{
	policy.KeyDenied:    strings.Repeat("spark.kubernetes.driver.master, spark.kubernetes.authenticate.*, ", 20),
	policy.KeyExecutors: "10", policy.KeyWorkers: "10", policy.KeyDriverMemory: "16g", policy.KeyExecutorMemory: "16g",
	policy.KeyDriverCores: "4", policy.KeyExecutorCores: "8", policy.KeyLabels: "team, example.com/cost",
	policy.KeyRegistries: strings.Repeat("registry.example.com/team-a, ", 15) + "docker.io", policy.KeyTimeToLive: "required", policy.KeyHostPath: "denied",
	policy.KeyHostNamespaces: "denied", policy.KeyPrivileged: "denied",
}

// repeated is a number of equal entries of a list.
func repeated(number int, entry any) []any {
	entries := make([]any, number)
	for i := range entries {
		entries[i] = entry
	}
	return entries
}

// properties is a spec with a number of properties whose keys have a length, and with others.
func properties(number, length, value int, others map[string]any) map[string]any {
	conf := map[string]any{}
	for i := range number {
		key := fmt.Sprintf("spark.%06d", i)
		conf[key+strings.Repeat("k", max(length-len(key), 0))] = strings.Repeat("v", value)
	}
	for key, other := range others {
		conf[key] = other
	}
	return map[string]any{"sparkConf": conf}
}

// podLists are the lists of containers and of volumes of a kind.
func podLists(k kind) (containers, volumes []string) {
	pods := map[string][]string{
		"spark":         {"driverSpec.podTemplateSpec.spec", "executorSpec.podTemplateSpec.spec"},
		"sparkcluster":  {"masterSpec.statefulSetSpec.template.spec", "workerSpec.statefulSetSpec.template.spec"},
		"sparkoperator": {"driver.template.spec", "executor.template.spec"},
	}[k.policy]
	for _, pod := range pods {
		containers = append(containers, pod+".containers", pod+".initContainers")
		volumes = append(volumes, pod+".volumes")
	}
	if k.policy == "sparkoperator" {
		containers = append(containers, "driver.sidecars", "driver.initContainers", "executor.sidecars", "executor.initContainers")
		volumes = append(volumes, "volumes")
	}
	return containers, volumes
}

// withLists is a spec with a number of equal entries in all of some lists together.
func withLists(lists []string, number int, entry map[string]any) map[string]any {
	spec := map[string]any{}
	for _, list := range lists {
		set(spec, strings.Split(list, "."), repeated(number/len(lists), entry))
	}
	return spec
}

// costly are the specs within the bounds of the policies that cost most.
func costly(k kind) map[string]map[string]any {
	long := func(text string) string { return strings.Repeat(text, largest/len(text)) }
	specs := map[string]map[string]any{
		"properties":              properties(2000, 65, largest/2000-90, nil),
		"text of an image":        properties(0, 0, 0, map[string]any{"spark.kubernetes.container.image": "docker.io/" + long("a")}),
		"text of a memory":        properties(0, 0, 0, map[string]any{"spark.driver.memory": long("9")}),
		"text of cores":           properties(0, 0, 0, map[string]any{"spark.executor.cores": long("9")}),
		"text of instances":       properties(0, 0, 0, map[string]any{"spark.executor.instances": long(" ")}),
		"text of a switch":        properties(0, 0, 0, map[string]any{"spark.dynamicAllocation.enabled": long("A")}),
		"text of off-heap memory": properties(0, 0, 0, map[string]any{"spark.memory.offHeap.enabled": "true", "spark.memory.offHeap.size": long("9")}),
		"text of an account":      properties(0, 0, 0, map[string]any{policy.DriverAccountKey: long("a")}),
	}
	if k.policy == "early" {
		specs["entries of lists"] = properties(0, 0, 0, map[string]any{
			"spark.kubernetes.driver.labels": strings.Repeat(strings.Repeat("a", 100)+"=b,", 240), "spark.kubernetes.executor.annotations": strings.Repeat("a=b,", 240),
		})
	}
	if containers, volumes := podLists(k); len(containers) > 0 {
		image := "docker.io/" + strings.Repeat("a", 1000)
		specs["containers"] = withLists(containers, 96, map[string]any{"name": strings.Repeat("n", 2000), "image": image, "securityContext": map[string]any{"privileged": true}})
		specs["volumes"] = withLists(volumes, 498, map[string]any{"name": strings.Repeat("n", 2000), "hostPath": map[string]any{"path": "/"}})
		specs["name of a container"] = withLists(containers[:1], 1, map[string]any{"name": long("n"), "image": image, "securityContext": map[string]any{"privileged": true}})
	}
	return specs
}

// tooLarge are specs beyond the bounds, by what the policies say of them.
func tooLarge(k kind) map[string]map[string]any {
	specs := map[string]map[string]any{
		".sparkConf has 150000 properties, and policies read at most 2000: write fewer": properties(150000, 0, 0, nil),
		".sparkConf has 200000 characters in the keys of its properties":                properties(2, 100000, 0, nil),
	}
	if k.policy == "early" {
		specs[".sparkConf has 500004 labels and annotations in lists"] = properties(0, 0, 0, map[string]any{"spark.kubernetes.driver.labels": strings.Repeat("a=b,", 500000)})
		specs[".sparkConf has 100000 characters in lists of labels and annotations"] = properties(0, 0, 0, map[string]any{"spark.kubernetes.driver.labels": strings.Repeat("a", 100000)})
	}
	if containers, volumes := podLists(k); len(containers) > 0 {
		specs[" has 96000 containers"] = withLists(containers, 96000, map[string]any{"name": "a"})
		specs[" has 96000 volumes"] = withLists(volumes, 96000, map[string]any{"name": "a"})
	}
	return specs
}

// large is an object of a spec. Its values are those that JSON decodes to.
func (k kind) large(t testing.TB, spec map[string]any) *unstructured.Unstructured {
	t.Helper()
	object := k.object(t, map[string]any{}, map[string]string{"team": "a"})
	maps.Copy(object.Object["spec"].(map[string]any), spec)
	return object
}

func TestNoObjectCostsMoreThanTheAPIServerAllows(t *testing.T) {
	rules, accounts, warnings := admissionPolicies(t, "admission", version.MajorMinor(1, 35)), admissionPolicies(t, "admission-accounts", version.MajorMinor(1, 35)),
		admissionPolicies(t, "admission-warnings", version.MajorMinor(1, 35))
	for name, k := range kinds {
		if len(k.template) > 0 {
			continue // its policy is that of the runs
		}
		judge := func(object *unstructured.Unstructured, each func(p admissionPolicy, decisions []validating.PolicyDecision), sets ...map[string]admissionPolicy) {
			for _, set := range sets {
				for policyName, p := range set {
					if strings.HasPrefix(policyName, k.policy+"-") {
						each(p, p.decisions(t, object, nil, allRules, usesOnly("")))
					}
				}
			}
		}
		for what, spec := range costly(k) {
			judge(k.large(t, spec), func(p admissionPolicy, decisions []validating.PolicyDecision) {
				for _, d := range decisions {
					if d.Evaluation == validating.EvalError || strings.Contains(d.Message, "failed expression") || strings.Contains(d.Message, "policies read at most") {
						t.Errorf("%s with a large %s: %s says %.300s", name, what, p.Name, d.Message)
					}
				}
			}, rules, accounts, warnings)
		}
		for want, spec := range tooLarge(k) {
			object := k.large(t, spec)
			judge(object, func(p admissionPolicy, decisions []validating.PolicyDecision) {
				if d := decisions[0]; d.Action != validating.ActionDeny || !strings.Contains(d.Message, want) {
					t.Errorf("%s, which has %q: %s says %s", name, want, p.Name, d.Message)
				}
			}, rules)
			judge(object, func(p admissionPolicy, decisions []validating.PolicyDecision) {
				for _, d := range decisions {
					if d.Evaluation == validating.EvalError {
						t.Errorf("%s, which has %q: %s says %s", name, want, p.Name, d.Message)
					}
				}
			}, rules, warnings)
		}
	}
}

// What the API server compares of an edit costs little, however much was edited.
func TestLargeObjectsCanBeEdited(t *testing.T) {
	k := kinds["apache"]
	old, edited := k.large(t, properties(150000, 0, 0, nil)), k.large(t, properties(150000, 0, 0, nil))
	set(edited.Object, []string{"spec", "suspend"}, true)
	for _, p := range admissionPolicies(t, "admission", version.MajorMinor(1, 35)) {
		if strings.HasPrefix(p.Name, k.policy+"-") {
			if decisions := p.decisions(t, edited, old, allRules, nil); len(decisions) > 0 {
				t.Errorf("%s judges a suspension: %+v", p.Name, decisions)
			}
		}
	}
}
