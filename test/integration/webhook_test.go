package integration

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/firesteel-dev/firesteel/pkg/podannotations"
	"github.com/firesteel-dev/firesteel/test/harness/firesteel"
	"github.com/firesteel-dev/firesteel/test/observability"
)

// webhookEnv is a control plane whose API server calls the webhook.
type webhookEnv struct {
	*env
	*firesteel.Webhook
	// user may do everything.
	user *user
}

func newWebhookEnv(t *testing.T) *webhookEnv {
	alone(t)
	s := newEnv(t)
	w := &webhookEnv{env: s, user: s.as("")}
	started, err := s.StartWebhook(t.Context(), repository, filepath.Join(s.programs, "webhook"), s.dir)
	s.must(err)
	s.processes.add(started.Process)
	w.Webhook = started
	s.logOnFailure(started.Process)
	t.Cleanup(func() { s.must(w.Remove(context.Background())) })
	s.must(started.UntilAnswering(t.Context(), s.ns))
	return w
}

// plainRunPod is a Pod as spark-submit or a driver creates it, with annotations.
func plainRunPod(name, role string, annotations map[string]string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"spark-role": role}, Annotations: annotations},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "spark-kubernetes-" + role, Image: "spark", Env: []corev1.EnvVar{{Name: "SPARK_CONF_DIR", Value: "/opt/spark/conf"}},
		}}},
	}
}

func (w *webhookEnv) submit(pod *corev1.Pod, options ...string) (*corev1.Pod, error) {
	return w.user.kube.CoreV1().Pods(w.ns).Create(w.Context(), pod, metav1.CreateOptions{DryRun: options})
}

// mountedIn returns what a container mounts of config maps and secrets, by path.
func mountedIn(pod *corev1.Pod, container string) map[string]string {
	found := map[string]string{}
	for _, c := range pod.Spec.Containers {
		for _, mount := range c.VolumeMounts {
			for _, volume := range pod.Spec.Volumes {
				switch {
				case c.Name != container || volume.Name != mount.Name || !mount.ReadOnly:
				case volume.ConfigMap != nil:
					found[mount.MountPath] = volume.ConfigMap.Name
				case volume.Secret != nil:
					found[mount.MountPath] = volume.Secret.SecretName
				}
			}
		}
	}
	return found
}

func (w *webhookEnv) wantMounts(pod *corev1.Pod, container string, want map[string]string) {
	w.Helper()
	if diff := cmp.Diff(want, mountedIn(pod, container)); diff != "" {
		w.Errorf("%s mounts other things (-want +got): %s", container, diff)
	}
}

// called reports how often the webhook is called about objects of a kind while f runs.
func (w *webhookEnv) called(kind string, f func()) int {
	w.Helper()
	before, err := w.Answers(w.Context(), kind)
	w.must(err)
	f()
	after, err := w.Answers(w.Context(), kind)
	w.must(err)
	return after - before
}

// The parts share a control plane, and run one after the other: some change the webhook or the scope.
func TestWebhookOfAnnotatedPods(t *testing.T) {
	newWebhookEnv(t).inOrder(t, []webhookPart{
		{"driver gets its configuration files", (*webhookEnv).driverGetsConfiguration},
		{"executor with a sidecar first", (*webhookEnv).executorGetsMounts},
		{"several service accounts", (*webhookEnv).severalServiceAccounts},
		{"owner as JSON, as protobuf, and unreadable", (*webhookEnv).owners},
		{"volume without its mount", (*webhookEnv).volumeWithoutMount},
		{"names of volumes", (*webhookEnv).volumeNames},
		{"called for nothing else", (*webhookEnv).calledForNothingElse},
		{"called for each key", (*webhookEnv).calledForEachKey},
		{"dry run", (*webhookEnv).dryRun},
		{"other namespaces than those of the scope", (*webhookEnv).otherNamespaces},
		{"certificates are made again", (*webhookEnv).newCertificates},
		{"while it is down", (*webhookEnv).whileDown},
	})
}

type webhookPart struct {
	name string
	test func(*webhookEnv)
}

func (w *webhookEnv) inOrder(t *testing.T, parts []webhookPart) {
	for _, part := range parts {
		t.Run(part.name, func(t *testing.T) {
			env := *w.env
			env.TB = t
			of := *w
			of.env = &env
			part.test(&of)
			w.Webhook = of.Webhook // it may be another process
		})
	}
}

func (w *webhookEnv) driverGetsConfiguration() {
	w.user.warnings.take()
	annotations := map[string]string{"spark-operator.k8s.io/sparkConfigMap": "c", "spark-operator.k8s.io/hadoopConfigMap": "h"}
	pod, err := w.submit(plainRunPod("b1", "driver", annotations))
	w.must(err)
	w.wantMounts(pod, "spark-kubernetes-driver", map[string]string{"/etc/spark/conf": "c", "/etc/hadoop/conf": "h"})
	want := []corev1.EnvVar{
		{Name: "SPARK_CONF_DIR", Value: "/opt/spark/conf"}, {Name: "SPARK_CONF_DIR", Value: "/etc/spark/conf"},
		{Name: "HADOOP_CONF_DIR", Value: "/etc/hadoop/conf"},
	}
	if diff := cmp.Diff(want, pod.Spec.Containers[0].Env); diff != "" {
		w.Error(diff)
	}
	// What was changed already is left as it is, as when another webhook makes the API server ask again.
	again := pod.DeepCopy()
	again.ObjectMeta = metav1.ObjectMeta{Name: "b6", Labels: pod.Labels, Annotations: pod.Annotations}
	again, err = w.submit(again)
	w.must(err)
	if diff := cmp.Diff(pod.Spec, again.Spec); diff != "" {
		w.Errorf("it is changed twice: %s", diff)
	}
}

func (w *webhookEnv) executorGetsMounts() {
	executor := plainRunPod("b2", "executor", map[string]string{"sparkoperator.k8s.io/configmap.tuning": "/etc/t", "sparkoperator.k8s.io/secret.keys": "/etc/k"})
	executor.Spec.Containers = append([]corev1.Container{{Name: "sidecar", Image: "sidecar"}}, executor.Spec.Containers...)
	pod, err := w.submit(executor)
	w.must(err)
	w.wantMounts(pod, "spark-kubernetes-executor", map[string]string{"/etc/t": "tuning", "/etc/k": "keys"})
	w.wantMounts(pod, "sidecar", map[string]string{})
}

func (w *webhookEnv) severalServiceAccounts() {
	w.user.warnings.take()
	pod, err := w.submit(plainRunPod("b3", "driver", map[string]string{
		"spark-operator.k8s.io/GCPServiceAccount.k1": "/a", "spark-operator.k8s.io/GCPServiceAccount.k2": "/b", "spark-operator.k8s.io/sparkconfigmap": "c",
	}))
	w.must(err)
	w.wantMounts(pod, "spark-kubernetes-driver", map[string]string{"/a": "k1", "/b": "k2"})
	if env := fmt.Sprint(pod.Spec.Containers[0].Env); !strings.Contains(env, "{GOOGLE_APPLICATION_CREDENTIALS /a/key.json nil}") {
		w.Errorf("the environment is %s", env)
	}
	given := w.user.warnings.take()
	for _, part := range []string{"GCPServiceAccount.k2] is mounted, but", "sparkconfigmap] is no key"} {
		if !strings.Contains(given, part) {
			w.Errorf("the warnings lack %q: %s", part, given)
		}
	}
}

func (w *webhookEnv) owners() {
	run, err := w.Kube.CoreV1().ConfigMaps(w.ns).Create(w.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "run"}}, metav1.CreateOptions{})
	w.must(err)
	owner := metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: run.Name, UID: run.UID}
	protobuf, err := owner.Marshal()
	w.must(err)
	for name, value := range map[string]string{
		"b4-json":     fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","name":%q,"uid":%q}`, run.Name, run.UID),
		"b4-protobuf": base64.StdEncoding.EncodeToString(protobuf),
	} {
		pod, err := w.submit(plainRunPod(name, "driver", map[string]string{"sparkoperator.k8s.io/ownerReference": value}))
		w.must(err)
		if diff := cmp.Diff([]metav1.OwnerReference{owner}, pod.OwnerReferences); diff != "" {
			w.Errorf("%s: %s", name, diff)
		}
	}
	_, err = w.submit(plainRunPod("b4-unreadable", "driver", map[string]string{"spark-operator.k8s.io/ownerReference": "x"}))
	if !apierrors.IsBadRequest(err) || !strings.Contains(err.Error(), "metadata.annotations[spark-operator.k8s.io/ownerReference]") ||
		!strings.Contains(err.Error(), "write it as JSON, such as") {
		w.Errorf("the error is %v", err)
	}
	w.must(w.Kube.CoreV1().ConfigMaps(w.ns).Delete(w.Context(), run.Name, metav1.DeleteOptions{}))
	for _, name := range []string{"b4-json", "b4-protobuf"} {
		untilGone(w.env, w.Kube.CoreV1().Pods(w.ns), name)
	}
}

func (w *webhookEnv) volumeWithoutMount() {
	w.user.warnings.take()
	given := plainRunPod("b5", "driver", map[string]string{"sparkoperator.k8s.io/volumes.d": `{"name":"d","emptyDir":{}}`})
	pod, err := w.submit(given)
	w.must(err)
	for _, volume := range pod.Spec.Volumes {
		if volume.Name == "d" {
			w.Error("the volume is there")
		}
	}
	if given := w.user.warnings.take(); !strings.Contains(given, "volumes.d] has no effect") {
		w.Errorf("the warnings are %q", given)
	}
}

func (w *webhookEnv) volumeNames() {
	long := strings.Repeat("l", 53)
	pod, err := w.submit(plainRunPod("b7", "driver", map[string]string{
		"spark-operator.k8s.io/configMap.a.b": "/1", "spark-operator.k8s.io/configMap.a-b": "/2", "spark-operator.k8s.io/configMap." + long: "/3",
	}))
	w.must(err) // the API server has validated the names
	w.wantMounts(pod, "spark-kubernetes-driver", map[string]string{"/1": "a.b", "/2": "a-b", "/3": long})
}

func (w *webhookEnv) calledForNothingElse() {
	annotated := map[string]string{"spark-operator.k8s.io/sparkConfigMap": "c"}
	noRole := plainRunPod("b8-no-role", "driver", annotated)
	noRole.Labels = map[string]string{"spark-role": "shuffle"}
	ours := plainRunPod("b8-ours", "executor", annotated)
	ours.Labels["firesteel.dev/launch-id"] = "any"
	calls := w.called("Pod", func() {
		for _, pod := range []*corev1.Pod{
			noRole, ours, plainRunPod("b8-plain", "driver", nil),
			plainRunPod("b8-others", "driver", map[string]string{"sparkoperator.k8s.io/app-name": "pi", "other/sparkConfigMap": "c", "sparkoperator.k8s.io/configMap": "c"}),
		} {
			created, err := w.submit(pod)
			w.must(err)
			w.wantMounts(created, created.Spec.Containers[0].Name, map[string]string{})
		}
		_, err := w.user.kube.CoreV1().Pods(w.ns).Patch(w.Context(), "b1", types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`), metav1.PatchOptions{})
		w.must(err)
		w.applicationRuns("b8-app")
	})
	if calls != 0 {
		w.Errorf("the webhook was called %d times", calls)
	}
	w.untilNothingIsLeftOf("b8-app")
}

// applicationRuns runs an application whose driver has annotations that the webhook acts on.
func (w *webhookEnv) applicationRuns(name string) {
	w.Helper()
	process := w.ownController(controller{sink: w.sink.URL()})
	w.untilReady(process)
	w.env.create(App(name).Conf("spark.kubernetes.driver.annotation.spark-operator.k8s.io/sparkConfigMap", "c"))
	w.run(name, 0)
	pods, err := w.Kube.CoreV1().Pods(w.ns).List(w.Context(), metav1.ListOptions{LabelSelector: "spark-role=driver,firesteel.dev/launch-id"})
	w.must(err)
	if !slices.ContainsFunc(pods.Items, func(pod corev1.Pod) bool {
		return pod.Annotations["spark-operator.k8s.io/sparkConfigMap"] == "c" && len(mountedIn(&pod, "spark-kubernetes-driver")) == 0
	}) {
		w.Error("no driver of the application has the annotation, unchanged")
	}
}

func (w *webhookEnv) untilNothingIsLeftOf(name string) {
	w.Helper()
	w.delete(name)
	untilGone(w.env, w.apps(), name)
}

// The match condition of the manifest knows the keys that the program knows.
func (w *webhookEnv) calledForEachKey() {
	for _, key := range podannotations.Keys() {
		if strings.HasSuffix(key, ".") {
			key += "a.b"
		}
		if calls := w.called("Pod", func() {
			_, _ = w.submit(plainRunPod("b8-key", "executor", map[string]string{key: "?"}), metav1.DryRunAll)
		}); calls != 1 {
			w.Errorf("%s: the webhook was called %d times", key, calls)
		}
	}
}

func (w *webhookEnv) dryRun() {
	pod, err := w.submit(plainRunPod("b12", "driver", map[string]string{"spark-operator.k8s.io/sparkConfigMap": "c"}), metav1.DryRunAll)
	w.must(err)
	w.wantMounts(pod, "spark-kubernetes-driver", map[string]string{"/etc/spark/conf": "c"})
	if _, err := w.Kube.CoreV1().Pods(w.ns).Get(w.Context(), "b12", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		w.Errorf("the Pod: %v", err)
	}
}

func (w *webhookEnv) otherNamespaces() {
	annotations := map[string]string{"spark-operator.k8s.io/sparkConfigMap": "c"}
	scope := func(ctx context.Context, data map[string]string) { w.must(w.Configure(ctx, "config-scope", data)) }
	w.Cleanup(func() {
		scope(context.Background(), map[string]string{"watched-namespaces": "", "namespace-selector": "", "label-selector": ""})
	})
	mounted := func(name string) bool {
		pod, err := w.submit(plainRunPod(name, "driver", annotations), metav1.DryRunAll)
		w.must(err)
		return len(mountedIn(pod, "spark-kubernetes-driver")) > 0
	}
	for _, step := range []struct {
		scope  map[string]string
		served bool
	}{
		{map[string]string{"watched-namespaces": "elsewhere"}, false},
		{map[string]string{"watched-namespaces": "elsewhere," + w.ns}, true},
		{map[string]string{"watched-namespaces": "", "namespace-selector": "kubernetes.io/metadata.name=elsewhere"}, false},
		{map[string]string{"namespace-selector": "kubernetes.io/metadata.name=" + w.ns}, true},
		{map[string]string{"namespace-selector": "", "label-selector": "team=a"}, false},
		{map[string]string{"label-selector": "spark-role=driver"}, true},
	} {
		scope(w.Context(), step.scope)
		w.must(wait.PollUntilContextTimeout(w.Context(), pollInterval, timeout, true, func(context.Context) (bool, error) {
			return mounted("scope") == step.served, nil
		}))
	}
}

func (w *webhookEnv) newCertificates() {
	before, err := w.Configuration(w.Context())
	w.must(err)
	namespace, err := w.Kube.CoreV1().Namespaces().Get(w.Context(), firesteel.SystemNamespace, metav1.GetOptions{})
	w.must(err)
	if owners := before.OwnerReferences; len(owners) != 1 || owners[0].UID != namespace.UID {
		w.Errorf("the owners of the configuration are %v", owners)
	}
	_, err = w.Kube.CoreV1().Secrets(firesteel.SystemNamespace).Patch(w.Context(), "webhook-certificates", types.MergePatchType, []byte(`{"data":null}`), metav1.PatchOptions{})
	w.must(err)
	w.must(wait.PollUntilContextTimeout(w.Context(), pollInterval, timeout, true, func(ctx context.Context) (bool, error) {
		after, err := w.Configuration(ctx)
		return err == nil && !bytes.Equal(after.Webhooks[0].ClientConfig.CABundle, before.Webhooks[0].ClientConfig.CABundle), err
	}))
	w.must(w.UntilAnswering(w.Context(), w.ns))
	page, err := w.Metrics(w.Context())
	w.must(err)
	const day = 24 * 3600
	valid := slices.DeleteFunc(w.seriesOf(string(page)), func(e exported) bool { return e.metric != "firesteel_webhook_certificate_remaining_seconds" })
	if len(valid) != 1 || valid[0].value < 6*day || valid[0].value > 7*day {
		w.Errorf("the new certificate is valid for %v seconds", valid)
	}
}

// alertsRead checks that the API server exports what an alert about the webhook reads. It returns the series that the alert selects.
func (w *webhookEnv) alertsRead(alert string) (read []exported) {
	w.Helper()
	page, err := w.Kube.Discovery().RESTClient().Get().AbsPath("/metrics").DoRaw(w.Context())
	w.must(err)
	rules, _, err := observability.Rules("../..")
	w.must(err)
	series := w.seriesOf(string(page))
	found := 0
	for _, rule := range rules {
		if rule.Alert != alert {
			continue
		}
		selectors, err := observability.Selectors(rule.Expr)
		w.must(err)
		for _, selector := range selectors {
			found++
			selected := slices.DeleteFunc(slices.Clone(series), func(e exported) bool { return !selector.Matches(e.metric, e.labels) })
			if len(selected) == 0 {
				w.Errorf("%s: the API server has no series for %s%v", alert, selector.Metric, selector.Matchers)
			}
			read = append(read, selected...)
		}
	}
	if found == 0 {
		w.Errorf("there is no alert %s", alert)
	}
	return read
}

func (w *webhookEnv) whileDown() {
	annotated := map[string]string{"spark-operator.k8s.io/sparkConfigMap": "c"}
	w.Webhook.Kill()
	w.applicationRuns("b9-app")
	ours := plainRunPod("b9-ours", "executor", annotated) // as the application's driver creates it
	ours.Labels["firesteel.dev/launch-id"] = "any"
	for _, pod := range []*corev1.Pod{ours, plainRunPod("b9-plain", "driver", nil)} {
		_, err := w.submit(pod)
		w.must(err)
	}
	_, err := w.submit(plainRunPod("b9-annotated", "driver", annotated))
	if !apierrors.IsInternalError(err) || !strings.Contains(err.Error(), "pods.firesteel.dev") {
		w.Errorf("the error is %v", err)
	}
	w.alertsRead("FiresteelWebhookSilent")
	restarted, err := w.Webhook.Restart()
	w.must(err)
	w.Cleanup(restarted.Kill)
	w.must(w.UntilAnswering(w.Context(), w.ns))
	_, err = w.submit(plainRunPod("b9-annotated", "driver", annotated))
	w.must(err)
	w.untilNothingIsLeftOf("b9-app")
}
