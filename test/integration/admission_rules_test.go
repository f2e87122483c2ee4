package integration

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"
)

// applyPolicies applies the policies of a folder of config for the namespace of the test alone, with the ConfigMaps of that namespace.
func (s *env) applyPolicies(folder string) {
	s.Helper()
	files, err := filepath.Glob(filepath.Join(configFolder, folder, "400-*.yaml"))
	s.must(err)
	var manifests []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		s.must(err)
		policy := strings.ReplaceAll(string(text), ".firesteel.dev\n", "."+s.ns+".firesteel.dev\n")
		policy = strings.ReplaceAll(policy, "namespace: firesteel-system", "namespace: "+s.ns)
		manifests = append(manifests, policy+"  matchResources:\n    namespaceSelector:\n      matchLabels:\n        kubernetes.io/metadata.name: "+s.ns+"\n")
	}
	all := strings.Join(manifests, "\n---\n")
	_, err = s.kubectl(all, "apply", "--server-side", "-f", "-")
	s.must(err)
	s.Cleanup(func() {
		_, err := s.Plane.Kubectl(context.WithoutCancel(s.Context()), all, "delete", "-f", "-")
		s.must(err)
	})
}

// setRules writes the config-admission that the policies of the test read.
func (s *env) setRules(data map[string]string) {
	s.Helper()
	maps := s.Kube.CoreV1().ConfigMaps(s.ns)
	rules := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "config-admission"}, Data: data}
	if _, err := maps.Create(s.Context(), rules, metav1.CreateOptions{}); apierrors.IsAlreadyExists(err) {
		_, err := maps.Update(s.Context(), rules, metav1.UpdateOptions{})
		s.must(err)
	} else {
		s.must(err)
	}
}

// warnings collects what the API server warns of.
type warnings struct {
	mutex sync.Mutex
	texts []string
}

func (w *warnings) HandleWarningHeader(_ int, _, text string) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.texts = append(w.texts, text)
}

// take returns the warnings since the last call.
func (w *warnings) take() string {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	defer func() { w.texts = nil }()
	return strings.Join(w.texts, "\n")
}

// user are the clients of a user, which collect warnings.
type user struct {
	*env
	kube     kubernetes.Interface
	client   dynamic.Interface
	warnings *warnings
}

// as returns the clients of a user; empty for one who may do everything.
func (s *env) as(name string) *user {
	s.Helper()
	warnings := &warnings{}
	config := rest.CopyConfig(s.Plane.Admin())
	config.WarningHandler = warnings
	config.Impersonate.UserName = name
	kube, err := kubernetes.NewForConfig(config)
	s.must(err)
	client, err := dynamic.NewForConfig(config)
	s.must(err)
	return &user{s, kube, client, warnings}
}

func (u *user) resource(object *unstructured.Unstructured) dynamic.ResourceInterface {
	kind := object.GroupVersionKind()
	return u.client.Resource(kind.GroupVersion().WithResource(strings.ToLower(kind.Kind) + "s")).Namespace(u.ns)
}

// try creates an object without storing it.
func (u *user) try(manifest string) error {
	u.Helper()
	object := u.parse(manifest)
	_, err := u.resource(object).Create(u.Context(), object, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	return err
}

func (u *user) parse(manifest string) *unstructured.Unstructured {
	u.Helper()
	object := &unstructured.Unstructured{}
	u.must(yaml.Unmarshal([]byte(manifest), &object.Object))
	if object.GetName() == "" {
		object.SetName("pi")
	}
	return object
}

// The manifests of each kind, with a spec in the place of SPEC and labels in that of LABELS.
var policedKinds = map[string]string{
	"apache":            `{apiVersion: spark.apache.org/v1, kind: SparkApplication, metadata: {labels: {LABELS}}, spec: {runtimeVersions: {sparkVersion: 4.1.0}, SPEC}}`,
	"apache schedule":   `{apiVersion: firesteel.dev/v1alpha1, kind: ScheduledSparkApplication, metadata: {labels: {LABELS}}, spec: {schedule: "@daily", template: {spec: {runtimeVersions: {sparkVersion: 4.1.0}, SPEC}}}}`,
	"cluster":           `{apiVersion: spark.apache.org/v1, kind: SparkCluster, metadata: {labels: {LABELS}}, spec: {runtimeVersions: {sparkVersion: 4.1.0}, SPEC}}`,
	"kubeflow":          `{apiVersion: sparkoperator.k8s.io/v1beta2, kind: SparkApplication, metadata: {labels: {LABELS}}, spec: {SPEC}}`,
	"kubeflow schedule": `{apiVersion: sparkoperator.k8s.io/v1beta2, kind: ScheduledSparkApplication, metadata: {labels: {LABELS}}, spec: {schedule: "@daily", template: {SPEC}}}`,
	"kubeflow v1beta1":  `{apiVersion: sparkoperator.k8s.io/v1beta1, kind: SparkApplication, metadata: {labels: {LABELS}}, spec: {SPEC}}`,
}

func policed(kind, spec, labels string) string {
	return strings.NewReplacer("SPEC", spec, "LABELS", labels).Replace(policedKinds[kind])
}

func TestAdmissionRulesRefuseEarlyWithTheControllersWords(t *testing.T) {
	alone(t) // an API server that is busy with other tests may take minutes to read policies
	s := newEnv(t)
	u := s.as("")
	all := map[string]string{
		"denied-spark-properties": "spark.kubernetes.driver.master", "max-executors": "10", "max-workers": "5", "max-driver-memory": "4g", "max-executor-memory": "4g",
		"max-driver-cores": "2", "max-executor-cores": "2", "required-labels": "team", "allowed-registries": "registry.example.com, docker.io/apache",
		"time-to-live": "required", "host-path": "denied", "host-namespaces": "denied", "privileged": "denied",
	}
	kubeflowSettings := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "config-kubeflow"}}
	_, err := s.Kube.CoreV1().ConfigMaps(s.ns).Create(s.Context(), kubeflowSettings, metav1.CreateOptions{})
	s.must(err)
	s.setRules(nil)

	// They exist before there is a rule that they break.
	old := map[string]*unstructured.Unstructured{}
	for kind, spec := range map[string]string{
		"apache": `suspend: true, sparkConf: {spark.executor.instances: "50"}`, "kubeflow": "suspend: true, executor: {instances: 50}",
		"apache schedule": `suspend: true, sparkConf: {spark.executor.instances: "50"}`,
		"cluster":         `suspend: true, clusterTolerations: {instanceConfig: {initWorkers: 9, minWorkers: 9, maxWorkers: 9}}`,
	} {
		object := u.parse(policed(kind, spec, "a: b"))
		object.SetName("old")
		object.SetFinalizers([]string{"example.com/kept"})
		created, err := u.resource(object).Create(s.Context(), object, metav1.CreateOptions{})
		s.must(err)
		old[kind] = created
	}

	s.applyPolicies("admission")
	s.setRules(all)
	const few = `clusterTolerations: {instanceConfig: {initWorkers: 1, minWorkers: 1, maxWorkers: 1}}`
	const ttl, apacheTTL = "timeToLiveSeconds: 60", "applicationTolerations: {ttlAfterStopMillis: 60000}"
	s.must(wait.PollUntilContextTimeout(s.Context(), 100*time.Millisecond, timeout, true, func(context.Context) (bool, error) {
		for kind, spec := range map[string]string{"apache": "", "kubeflow": "", "cluster": few} { // the API server takes some time to read policies
			if err := u.try(policed(kind, spec, "")); err == nil || !strings.Contains(err.Error(), "metadata.labels[team]") {
				return false, nil
			}
		}
		err := u.try(policed("kubeflow", ttl+", sparkConf: {spark.master: a}", "team: a"))
		return err != nil && strings.Contains(err.Error(), "is not allowed"), nil
	}))

	for _, test := range []struct{ kind, spec, refusal string }{
		{"apache", apacheTTL, ""},
		{"apache", "suspend: true", "spec.applicationTolerations.ttlAfterStopMillis is not set, and config-admission has time-to-live: required: write how long"},
		{"apache", apacheTTL + `, sparkConf: {spark.executor.instances: "11"}`, `spec.sparkConf[spark.executor.instances] "11" is not at most 10, as max-executors of config-admission demands: write a number up to it`},
		{"apache", apacheTTL + `, sparkConf: {spark.dynamicAllocation.enabled: "true"}`, `spec.sparkConf[spark.dynamicAllocation.maxExecutors] is not at most 10`},
		{"apache", apacheTTL + `, sparkConf: {spark.dynamicAllocation.enabled: "true", spark.dynamicAllocation.maxExecutors: "10"}`, ""},
		{"apache", apacheTTL + `, sparkConf: {spark.driver.memory: 4g}`, ""},
		{"apache", apacheTTL + `, sparkConf: {spark.driver.memory: 4g, spark.driver.memoryOverhead: 1g}`, `spec.sparkConf[spark.driver.memory] "4g" makes 5120 MiB with what is added to it, and max-driver-memory of config-admission allows 4g: ask for less`},
		{"apache", apacheTTL + `, sparkConf: {spark.executor.memory: 1.5g}`, `spec.sparkConf[spark.executor.memory] "1.5g" is no size`},
		{"apache", apacheTTL + `, sparkConf: {spark.kubernetes.driver.master: a}`, `spec.sparkConf[spark.kubernetes.driver.master] is denied by denied-spark-properties of config-admission: remove it`},
		{"apache", apacheTTL + `, sparkConf: {spark.kubernetes.container.image: "example.com/spark:1"}`, `"example.com/spark:1" is from none of the allowed-registries of config-admission: name an image of one of them: registry.example.com, docker.io/apache`},
		{"apache", apacheTTL + `, sparkConf: {spark.kubernetes.container.image: "apache/spark:4.1.0"}`, ""},
		{"apache", apacheTTL + `, driverSpec: {podTemplateSpec: {spec: {hostNetwork: true}}}`, `spec.driverSpec.podTemplateSpec.spec.hostNetwork shares a namespace with the node`},
		{"apache", apacheTTL + `, executorSpec: {podTemplateSpec: {spec: {volumes: [{name: a, hostPath: {path: /}}]}}}`, `spec.executorSpec.podTemplateSpec.spec.volumes[a].hostPath is a path of the node`},
		{"apache", apacheTTL + `, executorSpec: {podTemplateSpec: {spec: {containers: [{name: a, securityContext: {privileged: true}}]}}}`, `spec.executorSpec.podTemplateSpec.spec.containers[a].securityContext.privileged gives a container all rights on the node`},
		{"apache schedule", apacheTTL + `, sparkConf: {spark.executor.instances: "11"}`, `spec.template.spec.sparkConf[spark.executor.instances] "11" is not at most 10`},
		{"apache schedule", apacheTTL, ""},
		{"apache schedule", apacheTTL + `, sparkConf: {spark.kubernetes.driver.master: a}`, `spec.template.spec.sparkConf[spark.kubernetes.driver.master] is denied`},
		{"cluster", few, ""},
		{"cluster", `clusterTolerations: {instanceConfig: {initWorkers: 1, minWorkers: 1, maxWorkers: 6}}`, `spec.clusterTolerations.instanceConfig.maxWorkers "6" is not at most 5, as max-workers of config-admission demands`},
		{"cluster", few + `, sparkConf: {spark.kubernetes.driver.master: a}`, `is denied by denied-spark-properties`},
		{"cluster", few + `, workerSpec: {statefulSetSpec: {template: {spec: {containers: [{name: worker, image: "example.com/a"}]}}}}`, `spec.workerSpec.statefulSetSpec.template.spec.containers[worker].image "example.com/a" is from none`},
		{"kubeflow", ttl, ""},
		{"kubeflow", ttl + ", executor: {instances: 11}", `spec.executor.instances "11" is not at most 10`},
		{"kubeflow", ttl + ", executor: {cores: 3}", `spec.executor.cores "3" is not at most 2, as max-executor-cores of config-admission demands`},
		{"kubeflow", ttl + ", driver: {coreRequest: 2500m}", `spec.driver.coreRequest "2500m" is not at most 2`},
		{"kubeflow", ttl + ", driver: {memory: 8g}", `spec.driver.memory "8g" makes 8192 MiB`},
		{"kubeflow", ttl + ", volumes: [{name: a, hostPath: {path: /}}]", `spec.volumes[a].hostPath is a path of the node`},
		{"kubeflow", ttl + ", driver: {hostNetwork: true}", `spec.driver.hostNetwork shares`},
		{"kubeflow", ttl + ", executor: {sidecars: [{name: a, image: x}]}", `spec.executor.sidecars[a].image "x" is from none`},
		{"kubeflow", ttl + ", sparkConf: {spark.kubernetes.authenticate.driver.serviceAccountName: a}", `sparkConf key "spark.kubernetes.authenticate.driver.serviceAccountName" is not allowed`},
		{"kubeflow", ttl + ", sparkConf: {spark.kubernetes.driver.master: a}", `sparkConf key "spark.kubernetes.driver.master" is not allowed`},
		{"kubeflow v1beta1", ttl + ", executor: {instances: 11}", `spec.executor.instances "11" is not at most 10`},
		{"kubeflow schedule", ttl + ", executor: {instances: 11}", `spec.template.executor.instances "11" is not at most 10`},
		{"kubeflow schedule", ttl + ", sparkConf: {spark.master: a}", `sparkConf key "spark.master" is not allowed`},
		{"kubeflow schedule", ttl, ""},
	} {
		err := u.try(policed(test.kind, test.spec, "team: a"))
		switch {
		case test.refusal == "" && err != nil:
			t.Errorf("%s {%s} is refused: %v", test.kind, test.spec, err)
		case test.refusal != "" && (err == nil || !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), test.refusal)):
			t.Errorf("%s {%s} is refused by %v, want %q", test.kind, test.spec, err, test.refusal)
		}
	}

	// What has broken no rule when it was applied is still labelled, finalized, written and deleted.
	for kind, object := range old {
		client := u.resource(object)
		patch := func(what, patch string, refused bool, subresources ...string) {
			_, err := client.Patch(s.Context(), "old", types.MergePatchType, []byte(patch), metav1.PatchOptions{}, subresources...)
			if refused != (err != nil) {
				t.Errorf("%s of %s: %v", what, kind, err)
			}
		}
		patch("a label", `{"metadata":{"labels":{"c":"d"}}}`, false)
		patch("a status", `{"status":{"observedGeneration":1}}`, false, "status")
		edit := `{"spec":{"sparkConf":{"spark.a":"b"}}}`
		if strings.HasSuffix(kind, "schedule") {
			edit = `{"spec":{"schedule":"@hourly"}}`
		}
		patch("an edit of the spec", edit, true)
		patch("a suspension", `{"spec":{"suspend":true}}`, false)
		if _, err := client.Patch(s.Context(), "old", types.MergePatchType, []byte(`{"spec":{"suspend":false}}`), metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}}); err != nil {
			t.Errorf("the resumption of %s: %v", kind, err)
		}
		patch("the finalizers", `{"metadata":{"finalizers":null}}`, false)
		if err := client.Delete(s.Context(), "old", metav1.DeleteOptions{}); err != nil {
			t.Errorf("the deletion of %s: %v", kind, err)
		}
	}

	// A changed ConfigMap needs no changed policy.
	s.setRules(map[string]string{"max-executors": "20"})
	kubeflowSettings.Data = map[string]string{"denied-spark-properties": "spark.jars.*"}
	_, err = s.Kube.CoreV1().ConfigMaps(s.ns).Update(s.Context(), kubeflowSettings, metav1.UpdateOptions{})
	s.must(err)
	s.must(wait.PollUntilContextTimeout(s.Context(), 100*time.Millisecond, timeout, true, func(context.Context) (bool, error) {
		return errors.Join(
			u.try(policed("apache", `sparkConf: {spark.kubernetes.driver.master: a, spark.executor.instances: "11"}`, "")),
			u.try(policed("kubeflow", `sparkConf: {spark.master: a}`, "")),
		) == nil, nil
	}))
	if err := u.try(policed("kubeflow", "sparkConf: {spark.jars.packages: a}", "")); err == nil {
		t.Error("a property that the ConfigMap denies by now is admitted")
	}
	s.setRules(map[string]string{"max-executors": "many"})
	s.must(wait.PollUntilContextTimeout(s.Context(), 100*time.Millisecond, timeout, true, func(context.Context) (bool, error) {
		err := u.try(policed("apache", "", ""))
		return err != nil && strings.Contains(err.Error(), `config-admission: max-executors is "many": write a number such as 100`), nil
	}))
	for _, name := range []string{"config-admission", "config-kubeflow"} {
		s.must(s.Kube.CoreV1().ConfigMaps(s.ns).Delete(s.Context(), name, metav1.DeleteOptions{}))
	}
	s.must(wait.PollUntilContextTimeout(s.Context(), 100*time.Millisecond, timeout, true, func(context.Context) (bool, error) {
		return errors.Join( // without the ConfigMaps there is no rule
			u.try(policed("apache", `sparkConf: {spark.executor.instances: "99"}`, "")),
			u.try(policed("kubeflow", "sparkConf: {spark.jars.packages: a}", "")),
		) == nil, nil
	}))
}

func TestAdmissionRefusesServiceAccountsThatTheirAuthorMayNotUse(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	grant := func(user string, rules ...rbacv1.PolicyRule) {
		role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: user}, Rules: rules}
		_, err := s.Kube.RbacV1().Roles(s.ns).Create(s.Context(), role, metav1.CreateOptions{})
		s.must(err)
		_, err = s.Kube.RbacV1().RoleBindings(s.ns).Create(s.Context(), &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: user}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: user},
			Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: user}},
		}, metav1.CreateOptions{})
		s.must(err)
	}
	writes := rbacv1.PolicyRule{
		APIGroups: []string{"spark.apache.org", "sparkoperator.k8s.io", "firesteel.dev"},
		Resources: []string{"sparkapplications", "scheduledsparkapplications", "sparkclusters"}, Verbs: []string{"create", "update", "patch"},
	}
	grant("writer", writes)
	grant("admin", writes, rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"serviceaccounts"}, Verbs: []string{"use"}, ResourceNames: []string{"admin"}})
	// The schedule handler has the right by the role of the component.
	grant("handler", writes, rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"serviceaccounts"}, Verbs: []string{"use"}})
	s.untilRightsAreKnown()
	s.applyPolicies("admission-accounts")
	writer, admin, handler := s.as("writer"), s.as("admin"), s.as("handler")

	naming := map[string]string{
		"apache":            `sparkConf: {spark.kubernetes.authenticate.driver.serviceAccountName: admin}`,
		"apache schedule":   `executorSpec: {podTemplateSpec: {spec: {serviceAccountName: admin}}}`,
		"kubeflow":          `driver: {serviceAccount: admin}`,
		"kubeflow schedule": `executor: {serviceAccount: admin}`,
		"cluster":           `clusterTolerations: {instanceConfig: {initWorkers: 1, minWorkers: 1, maxWorkers: 1}}, masterSpec: {statefulSetSpec: {template: {spec: {serviceAccountName: admin}}}}`,
	}
	for kind, spec := range naming {
		s.must(wait.PollUntilContextTimeout(s.Context(), 100*time.Millisecond, timeout, true, func(context.Context) (bool, error) {
			err := writer.try(policed(kind, spec, ""))
			return apierrors.IsForbidden(err) && strings.Contains(err.Error(), `"admin" is a service account that you may not use: name another, or ask for the verb use on it in namespace `+s.ns), nil
		}))
		for name, u := range map[string]*user{"one who may": admin, "the handler": handler} {
			if err := u.try(policed(kind, spec, "")); err != nil {
				t.Errorf("%s of %s is refused: %v", kind, name, err)
			}
		}
		if err := admin.try(policed(kind, strings.ReplaceAll(spec, "admin", "other"), "")); err == nil {
			t.Errorf("%s of one who may use another account is admitted", kind)
		}
	}
	if err := writer.try(policed("kubeflow", "driver: {memory: 1g}", "")); err != nil {
		t.Errorf("an application that names no account is refused: %v", err)
	}
	object := admin.parse(policed("kubeflow", naming["kubeflow"]+", suspend: true", ""))
	_, err := admin.resource(object).Create(s.Context(), object, metav1.CreateOptions{})
	s.must(err)
	if _, err := writer.resource(object).Patch(s.Context(), "pi", types.MergePatchType, []byte(`{"spec":{"mainApplicationFile":"local:///other.jar"}}`), metav1.PatchOptions{}); err == nil {
		t.Error("another user's program runs with the account")
	}
	if _, err := writer.resource(object).Patch(s.Context(), "pi", types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`), metav1.PatchOptions{}); err != nil {
		t.Errorf("a label is refused: %v", err)
	}
}

func TestAdmissionWarnsOfWhatHasNoEffect(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	s.applyPolicies("admission-warnings")
	u := s.as("")
	for _, test := range []struct{ kind, spec, warning string }{
		{"apache", `sparkConf: {spark.driver.host: a, executor: b}`, "spec.sparkConf[spark.driver.host] has no effect, the submission sets it: leave it out"},
		{"apache", `sparkConf: {executor.memory: b}`, "spec.sparkConf[executor.memory] is dropped, Spark reads only what begins with spark."},
		{"apache schedule", `sparkConf: {spark.driver.host: a}`, "spec.template.spec.sparkConf[spark.driver.host] has no effect"},
		{"kubeflow", `deps: {jarsDownloadDir: /a}`, "spec.deps.jarsDownloadDir has no effect, no Spark since 2.3 has an init container that downloads"},
		{"kubeflow schedule", `failureRetries: 3`, "spec.template.failureRetries has no effect, the Kubeflow operator does not read it either: write spec.restartPolicy"},
		{"cluster", `clusterTolerations: {instanceConfig: {initWorkers: 1, minWorkers: 1, maxWorkers: 1}}, workerSpec: {statefulSetSpec: {replicas: 3}}`, "spec.workerSpec.statefulSetSpec.replicas has no effect: write the number into initWorkers"},
	} {
		var said string
		err := wait.PollUntilContextTimeout(s.Context(), 100*time.Millisecond, timeout, true, func(context.Context) (bool, error) {
			err := u.try(policed(test.kind, test.spec, ""))
			said = u.warnings.take()
			return strings.Contains(said, test.warning), err
		})
		if err != nil {
			t.Errorf("%s {%s}: %v, warnings %q, want %q", test.kind, test.spec, err, said, test.warning)
		}
	}
	for _, kind := range []string{"apache", "kubeflow"} {
		s.must(u.try(policed(kind, `sparkConf: {spark.executor.memory: 1g}`, "")))
		if said := u.warnings.take(); said != "" {
			t.Errorf("%s without anything of the kind is warned of: %s", kind, said)
		}
	}
}
