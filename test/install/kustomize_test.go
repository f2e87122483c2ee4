package install

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// build builds a kustomization, as kubectl kustomize does.
func build(t *testing.T, folder string) objects {
	t.Helper()
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), filepath.Join(root, folder))
	if err != nil {
		t.Fatalf("%s: %v", folder, err)
	}
	text, err := built.AsYaml()
	if err != nil {
		t.Fatal(err)
	}
	all := objects{}
	all.add(t, folder, text)
	return all
}

func TestKustomizeBaseHoldsEveryManifest(t *testing.T) {
	mustEqual(t, read(t, "*.yaml"), build(t, "config"))
}

func TestKustomizeComponentAddsItsFolderToTheBase(t *testing.T) {
	for component, manifests := range map[string]string{
		"admission": "*.yaml", "admission-accounts": "*.yaml", "admission-warnings": "*.yaml", "archive": "*.yaml", "archive-service": "5*.yaml", "console": "*.yaml", "driver-logs": "*.yaml", "early": "*.yaml", "eventing": "[1-8]*.yaml", "history": "*.yaml", "observability": "*.yaml", "other-operators": "*.yaml",
		"webhook": "*.yaml", "workload-namespaces": "2*.yaml",
	} {
		t.Run(component, func(t *testing.T) {
			want := read(t, "*.yaml", filepath.Join(component, manifests))
			patched := map[string]string{"eventing": "config-handlers", "workload-namespaces": "config-handlers", "archive-service": "config-archive"}
			if name := patched[component]; name != "" {
				// It patches the ConfigMap of the base.
				patch := read(t, component+"/900-"+name+".yaml").get(t, "ConfigMap", name)
				data := want.get(t, "ConfigMap", name).Object["data"].(map[string]any)
				for key, value := range patch.Object["data"].(map[string]any) {
					data[key] = value
				}
			}
			mustEqual(t, want, build(t, "examples/kustomize/"+component))
		})
	}
}

func TestKustomizeConsoleImpersonationIsOfTheGroupsOfItsSetting(t *testing.T) {
	want := read(t, "*.yaml", "console/*.yaml", "console-impersonation/2*.yaml")
	listed := read(t, "console-impersonation/900-config-console.yaml").get(t, "ConfigMap", "config-console").Object["data"].(map[string]any)
	maps.Copy(want.get(t, "ConfigMap", "config-console").Object["data"].(map[string]any), listed)
	mustEqual(t, want, build(t, "examples/kustomize/console-impersonation"))
	rules := want.get(t, "ClusterRole", "firesteel-console-impersonation").Object["rules"].([]any)
	if got := fmt.Sprint(rules[0].(map[string]any)["resourceNames"]); got != "["+listed["impersonation-groups"].(string)+"]" {
		t.Errorf("the role has the groups %s, the setting %s", got, listed["impersonation-groups"])
	}
}

func TestKustomizeWebhookFailRefusesManifestsWhileItIsDownAndNothingElse(t *testing.T) {
	want := build(t, "examples/kustomize/webhook")
	webhooks := want.get(t, "ValidatingWebhookConfiguration", "firesteel-validation").Object["webhooks"].([]any)
	webhooks[0].(map[string]any)["failurePolicy"] = "Fail"
	mustEqual(t, want, build(t, "examples/kustomize/webhook-fail"))
}

func TestKustomizeGivesAnotherNamespaceItsAccounts(t *testing.T) {
	for _, o := range build(t, "examples/kustomize/team-a") {
		if o.GetNamespace() != "team-a" {
			t.Errorf("%s is in another namespace", key(o))
		}
	}
}

func TestKustomizeSecondInstallationSharesNothingButTheCluster(t *testing.T) {
	first, second := build(t, "examples/kustomize/eventing"), build(t, "examples/kustomize/second-installation")
	maps.Copy(first, build(t, "examples/kustomize/webhook"))
	maps.Copy(first, build(t, "examples/kustomize/admission"))
	for name, o := range second {
		if first[name] != nil {
			t.Errorf("both installations have %s", name)
		}
		text, err := o.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(strings.ReplaceAll(string(text), `-n `+systemNamespace, ""), systemNamespace) {
			t.Errorf("%s names the namespace of the other installation: %s", name, text)
		}
	}
	// The webhook finds its configuration by the name, and may change no other.
	const configuration = "firesteel-pods-team-b"
	webhooks := second.get(t, "MutatingWebhookConfiguration", configuration).Object["webhooks"].([]any)
	expect(t, &object{Object: webhooks[0].(map[string]any)}, "clientConfig: {service: {name: webhook, namespace: firesteel-team-b, path: /pods, port: 443}}")
	expect(t, &object{Object: webhooks[0].(map[string]any)}, "namespaceSelector: {matchExpressions: [{key: kubernetes.io/metadata.name, operator: In, values: [team-b]}]}")
	const validation = "firesteel-validation-team-b"
	webhooks = second.get(t, "ValidatingWebhookConfiguration", validation).Object["webhooks"].([]any)
	expect(t, &object{Object: webhooks[0].(map[string]any)}, "clientConfig: {service: {name: webhook, namespace: firesteel-team-b, path: /validate, port: 443}}")
	expect(t, &object{Object: webhooks[0].(map[string]any)}, "namespaceSelector: {matchExpressions: [{key: kubernetes.io/metadata.name, operator: In, values: [team-b]}]}")
	for kind, name := range map[string]string{"Deployment": "webhook", "ClusterRole": "firesteel-webhook-team-b"} {
		text := fmt.Sprint(second.get(t, kind, name).Object)
		if !strings.Contains(text, configuration) || !strings.Contains(text, validation) {
			t.Errorf("the %s does not name %s and %s: %s", kind, configuration, validation, text)
		}
	}
	// Policies read the ConfigMaps of their installation, and hold for its namespaces.
	bindings := second.kind("ValidatingAdmissionPolicyBinding")
	if len(bindings) == 0 {
		t.Error("the second installation has no policies")
	}
	for _, binding := range bindings {
		expect(t, binding, "spec: {policyName: "+binding.GetName()+", paramRef: {namespace: firesteel-team-b}}")
		expect(t, binding, "spec: {matchResources: {namespaceSelector: {matchExpressions: [{key: kubernetes.io/metadata.name, operator: In, values: [team-b]}]}}}")
		second.get(t, "ValidatingAdmissionPolicy", binding.GetName())
	}
	// The controller finds its settings by the names of the ConfigMaps.
	names := func(all objects) (found []string) {
		for _, o := range all.kind("ConfigMap") {
			found = append(found, o.GetName())
		}
		slices.Sort(found)
		return found
	}
	if !slices.Equal(names(first), names(second)) {
		t.Errorf("the second installation has the ConfigMaps %v, want %v", names(second), names(first))
	}
}

// The chart makes its Roles of the ClusterRoles in config.
func TestKustomizeForListedNamespacesIsWhatTheChartRenders(t *testing.T) {
	const values = "controller: {rbac: {scope: Namespaces}, driverLogs: %t, archive: %t}\neventing: {enable: %[1]t}\nspark: {jobNamespaces: [team-a, team-b]}"
	for overlay, options := range map[string][2]any{
		"listed-namespaces": {false, false}, "listed-namespaces-archive": {false, true}, "listed-namespaces-eventing": {true, true},
	} {
		t.Run(overlay, func(t *testing.T) {
			built := build(t, "examples/kustomize/"+overlay)
			mustEqual(t, ofConfig(t, with(t, fmt.Sprintf(values, options[:]...))), built.without(byHelm))
			for _, kind := range []string{"ClusterRole", "ClusterRoleBinding"} {
				for name := range built.kind(kind) {
					t.Errorf("there is %s", name)
				}
			}
		})
	}
}
