package install

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/firesteel-dev/firesteel/pkg/crds"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
	"k8s.io/apimachinery/pkg/util/yaml"
	"knative.dev/pkg/version"
)

const (
	chartFolder = root + "/charts/firesteel"
	// resourcePolicy is the annotation that keeps an object when its release is uninstalled.
	resourcePolicy = "helm.sh/resource-policy"
)

func load(t *testing.T) *chart.Chart {
	t.Helper()
	loaded, err := loader.Load(chartFolder)
	if err != nil {
		t.Fatal(err)
	}
	return loaded
}

// release is what helm template renders: the chart with values.
type release struct {
	name, namespace string
	// values are written as in a values file.
	values string
}

// render renders a release. It returns the objects, and the notes for users.
func (r release) render(t *testing.T) (objects, string, error) {
	t.Helper()
	values := map[string]any{}
	if err := yaml.Unmarshal([]byte(r.values), &values); err != nil {
		t.Fatal(err)
	}
	loaded := load(t)
	options := chartutil.ReleaseOptions{Name: r.name, Namespace: r.namespace, Revision: 1, IsInstall: true}
	complete, err := chartutil.ToRenderValues(loaded, values, options, nil)
	if err != nil {
		return nil, "", err
	}
	files, err := engine.Render(loaded, complete)
	if err != nil {
		return nil, "", err
	}
	all, notes := objects{}, ""
	for _, file := range slices.Sorted(maps.Keys(files)) {
		if filepath.Base(file) == "NOTES.txt" {
			notes = files[file]
		} else if filepath.Ext(file) == ".yaml" {
			all.add(t, file, []byte(files[file]))
		}
	}
	return all, notes, nil
}

// with renders the release firesteel with values.
func with(t *testing.T, values string) objects {
	t.Helper()
	all, _, err := release{"firesteel", systemNamespace, values}.render(t)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// ofConfig returns objects as they would be in config: without hooks, and without labels and
// annotations for Helm.
func ofConfig(t *testing.T, all objects) objects {
	t.Helper()
	plain := all.without(func(o *object) bool { return o.GetAnnotations()["helm.sh/hook"] != "" })
	for _, o := range plain {
		labels := o.GetLabels()
		for _, label := range []string{
			"helm.sh/chart", "app.kubernetes.io/instance", "app.kubernetes.io/version", "app.kubernetes.io/managed-by",
		} {
			if labels[label] == "" {
				t.Errorf("%s lacks the label %s", key(o), label)
			}
			delete(labels, label)
		}
		o.SetLabels(labels)
		if annotations := o.GetAnnotations(); annotations[resourcePolicy] == "keep" {
			delete(annotations, resourcePolicy)
			if len(annotations) == 0 {
				annotations = nil
			}
			o.SetAnnotations(annotations)
		}
	}
	return plain
}

// byHelm matches what config has and the chart leaves to others: helm --create-namespace makes the namespace, and the hook applies the
// CRDs.
func byHelm(o *object) bool {
	return o.GetKind() == "Namespace" || o.GetKind() == "CustomResourceDefinition"
}

func TestChartWithDefaultsIsConfig(t *testing.T) {
	mustEqual(t, read(t, "*.yaml", "workload/*.yaml").without(byHelm), ofConfig(t, with(t, "")))
}

func TestChartWithOptionsIsConfigWithItsComponents(t *testing.T) {
	const values = `
eventing: {enable: true}
admission: {enable: true, serviceAccounts: true, warnings: true}
otherOperators: {notice: true}
webhook: {enable: true}
console: {enable: true, impersonationGroups: [data-engineers]}
archiveService: {enable: true}
history: {enable: true}
controller: {driverLogs: true, archive: true}`
	want := read(t, "*.yaml", "workload/*.yaml", "eventing/[1-8]*.yaml", "admission/*.yaml", "admission-accounts/*.yaml", "admission-warnings/*.yaml", "archive-eventing/[5-7]*.yaml", "driver-logs/*.yaml", "other-operators/*.yaml", "webhook/*.yaml", "console/*.yaml", "console-impersonation/2*.yaml", "archive-service/5*.yaml", "history/*.yaml").without(byHelm).
		without(func(o *object) bool { return o.GetName() == "firesteel-webhook-quota" }) // of quota: hold and fail
	for file, name := range map[string]string{
		"eventing/900-config-handlers.yaml": "config-handlers", "archive-eventing/900-config-handlers.yaml": "config-handlers",
		"archive-service/900-config-archive.yaml": "config-archive", "console-impersonation/900-config-console.yaml": "config-console",
	} {
		patch := read(t, file).get(t, "ConfigMap", name)
		maps.Copy(want.get(t, "ConfigMap", name).Object["data"].(map[string]any), patch.Object["data"].(map[string]any))
	}
	mustEqual(t, want, ofConfig(t, with(t, values)))
}

func TestChartWithAnOptionInTwoPlacesIsConfigWithThatComponent(t *testing.T) {
	for values, folder := range map[string]string{
		"controller: {archive: true}":                                  "examples/kustomize/archive",
		"controller: {archive: true}\neventing: {enable: true}":        "examples/kustomize/archive-eventing",
		"workloadNamespaces: {enable: true}":                           "examples/kustomize/workload-namespaces",
		"workloadNamespaces: {enable: true}\neventing: {enable: true}": "examples/kustomize/workload-namespaces-eventing",
	} {
		want := build(t, folder)
		maps.Copy(want, read(t, "workload/*.yaml"))
		mustEqual(t, want.without(byHelm), ofConfig(t, with(t, values)))
	}
}

func TestChartIsLinted(t *testing.T) {
	for _, values := range []map[string]any{{}, {"eventing": map[string]any{"enable": true}}} {
		for _, message := range lint.AllWithKubeVersion(chartFolder, values, systemNamespace, nil).Messages {
			if message.Severity >= support.WarningSev {
				t.Error(message)
			}
		}
	}
}

func TestChartTakesTheKubernetesVersionsThatTheControllerTakes(t *testing.T) {
	metadata := load(t).Metadata
	oldest := version.DefaultKubernetesMinVersion
	if want := ">=" + strings.TrimPrefix(oldest, "v") + "-0"; metadata.KubeVersion != want {
		t.Errorf("kubeVersion is %s, want %s", metadata.KubeVersion, want)
	}
	for kubernetes, want := range map[string]bool{oldest: true, oldest + "-gke.100": true, "v1.33.9": false} {
		if got := chartutil.IsCompatibleRange(metadata.KubeVersion, kubernetes); got != want {
			t.Errorf("Kubernetes %s is taken: %t", kubernetes, got)
		}
	}
}

func TestChartNamesTheCRDsThatSetupApplies(t *testing.T) {
	for _, api := range crds.APIs() {
		all := with(t, "apis: ["+api+"]")
		found, err := crds.Of(api)
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		for _, crd := range found {
			want = append(want, crd.GetName())
		}
		rule := all.get(t, "ClusterRole", "firesteel-setup").Object["rules"].([]any)[0].(map[string]any)
		var got []string
		for _, name := range rule["resourceNames"].([]any) {
			got = append(got, name.(string))
		}
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s: the hook may apply %v, want %v", api, got, want)
		}
		container := containers(t, all.get(t, "Job", "firesteel-setup"))[0].(map[string]any)
		if args := fmt.Sprint(container["args"]); args != "[crds "+api+"]" {
			t.Errorf("%s: the hook runs %s", api, args)
		}
	}
}

// The hook reports other operators, and the controller may be allowed to.
func TestHookFindsOtherOperatorsAsTheControllerMay(t *testing.T) {
	all := with(t, "otherOperators: {notice: true}")
	ofHook := fmt.Sprint(all.get(t, "ClusterRole", "firesteel-setup").Object["rules"])
	for _, rule := range all.get(t, "ClusterRole", "firesteel-other-operators").Object["rules"].([]any) {
		if !strings.Contains(ofHook, fmt.Sprint(rule)) {
			t.Errorf("the hook has not the rule %v, which the controller may have", rule)
		}
	}
}

func TestHookReleasesFinalizersBeforeTheReleaseIsUninstalled(t *testing.T) {
	all, _, err := release{"team-b", "firesteel-team-b", ""}.render(t)
	if err != nil {
		t.Fatal(err)
	}
	const name = "team-b-firesteel-uninstall"
	for _, kind := range []string{"ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding", "Job"} {
		hook := all.get(t, kind, name)
		expect(t, hook, "metadata: {annotations: {helm.sh/hook: pre-delete, helm.sh/hook-delete-policy: 'before-hook-creation,hook-succeeded'}}")
		if namespace := hook.GetNamespace(); !strings.HasPrefix(kind, "Cluster") && namespace != "firesteel-team-b" {
			t.Errorf("the %s is in the namespace %s", kind, namespace)
		}
	}
	container := containers(t, all.get(t, "Job", name))[0].(map[string]any)
	if args := fmt.Sprint(container["args"]); args != "[release-finalizers -namespace firesteel-team-b -hook]" {
		t.Errorf("the hook runs %s", args)
	}
	if all["ClusterRole.rbac.authorization.k8s.io /"+name+"-webhook"] != nil {
		t.Error("the hook may delete the configuration of a webhook, and none is installed")
	}
	rules := fmt.Sprint(all.get(t, "ClusterRole", name).Object["rules"])
	served, err := crds.Of(crds.APIs()...)
	if err != nil {
		t.Fatal(err)
	}
	for _, crd := range served {
		resource, group, _ := strings.Cut(crd.GetName(), ".")
		if strings.HasPrefix(resource, "scheduled") {
			continue // schedules have no finalizers
		}
		if !strings.Contains(rules, group) || !strings.Contains(rules, resource) {
			t.Errorf("the hook may not patch %s: %s", crd.GetName(), rules)
		}
	}
}

// While the API server asks for a webhook that is gone, it refuses annotated Pods.
func TestHookDeletesTheConfigurationsOfTheWebhook(t *testing.T) {
	for _, scope := range []string{"Cluster", "Namespaces"} {
		all, _, err := release{"team-b", "firesteel-team-b", "webhook: {enable: true}\nspark: {jobNamespaces: [b]}\ncontroller: {rbac: {scope: " + scope + "}}"}.render(t)
		if err != nil {
			t.Fatal(err)
		}
		const name = "team-b-firesteel-uninstall-webhook"
		expect(t, all.get(t, "ClusterRole", name), `
metadata: {annotations: {helm.sh/hook: pre-delete}}
rules: [{apiGroups: [admissionregistration.k8s.io], resources: [mutatingwebhookconfigurations], resourceNames: [team-b-firesteel-pods], verbs: [delete]},
  {apiGroups: [admissionregistration.k8s.io], resources: [validatingwebhookconfigurations], resourceNames: [team-b-firesteel-validation], verbs: [delete]}]`)
		expect(t, all.get(t, "ClusterRoleBinding", name), "{roleRef: {name: "+name+"}, subjects: [{kind: ServiceAccount, name: team-b-firesteel-uninstall, namespace: firesteel-team-b}]}")
	}
}

// The hook scales each of them to zero, and may scale no others.
func TestHookMayStopEveryDeployment(t *testing.T) {
	all := with(t, "eventing: {enable: true}\nworkloadNamespaces: {enable: true}\nwebhook: {enable: true}\nhistory: {enable: true}\n"+
		"console: {enable: true}\narchiveService: {enable: true}\ncontroller: {archive: true}")
	var allowed []any
	for _, rule := range all.get(t, "Role", "firesteel-uninstall").Object["rules"].([]any) {
		if rule := rule.(map[string]any); fmt.Sprint(rule["resources"]) == "[deployments/scale]" {
			allowed = rule["resourceNames"].([]any)
		}
	}
	deployments := all.kind("Deployment")
	for _, deployment := range deployments {
		if !slices.Contains(allowed, any(deployment.GetName())) {
			t.Errorf("the hook may not scale %s, but %v", deployment.GetName(), allowed)
		}
	}
	if len(deployments) != len(allowed) {
		t.Errorf("the hook may scale %v, and there are %d", allowed, len(deployments))
	}
}
