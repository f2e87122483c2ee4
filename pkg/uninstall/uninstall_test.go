package uninstall

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	metadatafake "k8s.io/client-go/metadata/fake"
	k8stesting "k8s.io/client-go/testing"
	"sigs.k8s.io/yaml"
)

const system = "firesteel-system"

// env is an installation in a cluster with some objects.
type env struct {
	*Installation
	testing.TB
	objects *metadatafake.FakeMetadataClient
	log     []string
}

// newEnv returns an installation. cluster are objects of Kubernetes, objects those of kinds with finalizers.
func newEnv(t *testing.T, cluster []runtime.Object, objects ...runtime.Object) *env {
	scheme := metadatafake.NewTestScheme()
	if err := metav1.AddMetaToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	e := &env{TB: t, objects: metadatafake.NewSimpleMetadataClient(scheme, objects...)}
	e.Installation = &Installation{
		Kube: fake.NewClientset(cluster...), Metadata: e.objects, Namespace: system,
		Logf: func(format string, args ...any) { e.log = append(e.log, fmt.Sprintf(format, args...)) },
	}
	return e
}

// object returns an object of a kind, in a namespace that is named like it.
func object(kind, name string, finalizers ...string) *metav1.PartialObjectMetadata {
	version, definition := "spark.apache.org/v1", kind
	switch kind {
	case "KubeflowApplication":
		version, definition = "sparkoperator.k8s.io/v1beta2", "SparkApplication"
	case "EarlyApplication":
		version, definition = "spark-operator.k8s.io/v1alpha1", "SparkApplication"
	}
	return &metav1.PartialObjectMetadata{
		TypeMeta:   metav1.TypeMeta{APIVersion: version, Kind: definition},
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: name, Finalizers: finalizers, ResourceVersion: "1"},
	}
}

func (e *env) release() {
	e.Helper()
	if err := e.ReleaseFinalizers(e.Context()); err != nil {
		e.Fatal(err)
	}
}

// finalizersOf returns the finalizers of an object of the kind with this index.
func (e *env) finalizersOf(kind int, name string) []string {
	e.Helper()
	found, err := e.objects.Resource(Kinds()[kind].Resource).Namespace(name).Get(e.Context(), name, metav1.GetOptions{})
	if err != nil {
		e.Fatal(err)
	}
	return found.Finalizers
}

func (e *env) wantLog(lines ...string) {
	e.Helper()
	for _, line := range lines {
		if !slices.Contains(e.log, line) {
			e.Errorf("the log lacks %q:\n%s", line, strings.Join(e.log, "\n"))
		}
	}
}

func scope(data map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "config-scope", Namespace: system}, Data: data}
}

const (
	ofApache   = "sparkapplications.spark.apache.org/finalizer"
	ofKubeflow = "firesteel.dev/finalizer"
	ofCluster  = "sparkclusters.spark.apache.org/finalizer"
	ofAnother  = "example.com/audited"
)

func TestReleaseTakesOnlyFiresteelsFinalizers(t *testing.T) {
	e := newEnv(t, nil,
		object("SparkApplication", "a", ofApache), object("SparkApplication", "b", ofAnother, ofApache), object("SparkApplication", "c"),
		object("KubeflowApplication", "a", ofKubeflow), object("EarlyApplication", "a", ofKubeflow), object("SparkCluster", "a", ofCluster))
	e.release()
	for kind, name := range map[int]string{0: "a", 1: "a", 2: "a", 3: "a"} {
		if left := e.finalizersOf(kind, name); len(left) > 0 {
			t.Errorf("%s has the finalizers %v", Kinds()[kind].Resource.GroupResource(), left)
		}
	}
	if left := e.finalizersOf(0, "b"); !slices.Equal(left, []string{ofAnother}) {
		t.Errorf("b has the finalizers %v, want those of others", left)
	}
	e.wantLog("sparkapplications.spark.apache.org: released 2 finalizers", "sparkapplications.sparkoperator.k8s.io: released 1 finalizers",
		"sparkapplications.spark-operator.k8s.io: released 1 finalizers",
		"sparkclusters.spark.apache.org: released 1 finalizers")
	e.release()
	e.wantLog("sparkapplications.spark.apache.org: released 0 finalizers")
}

func TestReleaseLeavesObjectsOfOtherInstallations(t *testing.T) {
	namespace := func(name, team string) *corev1.Namespace {
		return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"team": team}}}
	}
	for name, data := range map[string]map[string]string{
		"by name":  {"watched-namespaces": "a"},
		"by label": {"namespace-selector": "team=a"},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t, []runtime.Object{scope(data), namespace("a", "a"), namespace("b", "b")},
				object("SparkApplication", "a", ofApache), object("SparkApplication", "b", ofApache))
			e.release()
			if left := e.finalizersOf(0, "a"); len(left) > 0 {
				t.Errorf("a has the finalizers %v", left)
			}
			if left := e.finalizersOf(0, "b"); len(left) != 1 {
				t.Errorf("b, which another installation serves, has the finalizers %v", left)
			}
			e.wantLog("sparkapplications.spark.apache.org: left 1 finalizers on objects outside config-scope of the namespace firesteel-system")
		})
	}
	e := newEnv(t, []runtime.Object{scope(map[string]string{"label-selector": "!!"})})
	if err := e.ReleaseFinalizers(t.Context()); err == nil || !strings.Contains(err.Error(), "label-selector") {
		t.Errorf("an invalid scope is answered by %v", err)
	}
}

// The hook may read only the listed namespaces, and one of them may be gone.
func TestReleaseReadsOnlyListedNamespaces(t *testing.T) {
	e := newEnv(t, []runtime.Object{scope(map[string]string{"access": "namespaces", "watched-namespaces": "a,gone"})},
		object("SparkApplication", "a", ofApache), object("SparkApplication", "b", ofApache))
	e.objects.PrependReactor("list", "*", func(action k8stesting.Action) (bool, runtime.Object, error) {
		if action.GetNamespace() == "a" {
			return false, nil, nil
		}
		return true, nil, apierrors.NewForbidden(Kinds()[0].Resource.GroupResource(), "", nil)
	})
	e.release()
	if left := e.finalizersOf(0, "a"); len(left) > 0 {
		t.Errorf("a has the finalizers %v", left)
	}
	if left := e.finalizersOf(0, "b"); len(left) != 1 {
		t.Errorf("b, which is not listed, has the finalizers %v", left)
	}
	e.wantLog("sparkapplications.spark.apache.org: released 1 finalizers in a")
	if !strings.Contains(strings.Join(e.log, "\n"), "sparkapplications.spark.apache.org: the namespace gone is left out") {
		t.Errorf("the log is %q", e.log)
	}
}

func TestReleaseSkipsKindsThatAreNotServed(t *testing.T) {
	e := newEnv(t, nil, object("KubeflowApplication", "a", ofKubeflow))
	e.objects.PrependReactor("list", "sparkclusters", func(k8stesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewNotFound(Kinds()[3].Resource.GroupResource(), "")
	})
	e.release()
	e.wantLog("sparkclusters.spark.apache.org: not in this cluster", "sparkapplications.sparkoperator.k8s.io: released 1 finalizers")
}

func TestReleaseRetriesAfterAConflict(t *testing.T) {
	e := newEnv(t, nil, object("SparkApplication", "a", ofApache))
	conflicts := 0
	e.objects.PrependReactor("patch", "sparkapplications", func(k8stesting.Action) (bool, runtime.Object, error) {
		if conflicts++; conflicts > 2 {
			return false, nil, nil
		}
		return true, nil, apierrors.NewConflict(Kinds()[0].Resource.GroupResource(), "a", nil)
	})
	e.release()
	if left := e.finalizersOf(0, "a"); len(left) > 0 {
		t.Errorf("a has the finalizers %v", left)
	}
	e.wantLog("sparkapplications.spark.apache.org: released 1 finalizers")
}

func TestReleaseNamesTheObjectThatIsRefused(t *testing.T) {
	e := newEnv(t, nil, object("SparkApplication", "a", ofApache))
	e.objects.PrependReactor("patch", "sparkapplications", func(k8stesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(Kinds()[0].Resource.GroupResource(), "a", nil)
	})
	if err := e.ReleaseFinalizers(t.Context()); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "a/a") {
		t.Errorf("the error is %v, want the object in it", err)
	}
}

func TestStopEndsControllerAndHandlers(t *testing.T) {
	deployment := func(name, partOf string) *appsv1.Deployment {
		replicas, labels := int32(2), map[string]string{"app.kubernetes.io/name": name}
		return &appsv1.Deployment{
			ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: system, Labels: map[string]string{"app.kubernetes.io/part-of": partOf}},
			Spec:       appsv1.DeploymentSpec{Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels}},
		}
	}
	pod := func(of string, phase corev1.PodPhase) *corev1.Pod {
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: of, Namespace: system, Labels: map[string]string{"app.kubernetes.io/name": of}},
			Status:     corev1.PodStatus{Phase: phase},
		}
	}
	e := newEnv(t, []runtime.Object{
		deployment("controller", "firesteel"), deployment("handler-schedule", "firesteel"), deployment("sink", "another"),
		pod("controller", corev1.PodRunning), pod("handler-schedule", corev1.PodFailed), pod("sink", corev1.PodRunning),
	})
	lists := 0
	e.Kube.(*fake.Clientset).PrependReactor("list", "pods", func(k8stesting.Action) (bool, runtime.Object, error) {
		if lists++; lists == 2 { // the Pod of the controller ends
			return true, &corev1.PodList{}, nil
		}
		return false, nil, nil
	})
	if err := e.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if lists < 3 {
		t.Errorf("listed Pods %d times: did not wait for the controller's", lists)
	}
	for name, want := range map[string]int32{"controller": 0, "handler-schedule": 0, "sink": 2} {
		found, err := e.Kube.AppsV1().Deployments(system).Get(t.Context(), name, metav1.GetOptions{})
		if err != nil || *found.Spec.Replicas != want {
			t.Errorf("%s has %d replicas, want %d: %v", name, *found.Spec.Replicas, want, err)
		}
	}
}

func TestStopScalesAgainAfterAWebhookDidNotAnswer(t *testing.T) {
	controller := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "controller", Namespace: system, Labels: map[string]string{"app.kubernetes.io/part-of": "firesteel"}},
		Spec:       appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app.kubernetes.io/name": "controller"}}},
	}
	e := newEnv(t, []runtime.Object{controller})
	patches := 0
	e.Kube.(*fake.Clientset).PrependReactor("patch", "deployments", func(k8stesting.Action) (bool, runtime.Object, error) {
		if patches++; patches == 1 {
			return true, nil, apierrors.NewInternalError(errors.New(`failed calling webhook "sinkbindings.webhook.sources.knative.dev"`))
		}
		return false, nil, nil
	})
	if err := e.Stop(t.Context()); err != nil || patches != 2 {
		t.Errorf("scaled %d times: %v", patches, err)
	}
	found, err := e.Kube.AppsV1().Deployments(system).Get(t.Context(), "controller", metav1.GetOptions{})
	if err != nil || *found.Spec.Replicas != 0 {
		t.Errorf("the controller has %d replicas: %v", *found.Spec.Replicas, err)
	}
}

// The Deployment of config/webhook names the configuration. Until that is deleted the webhook answers.
func TestStopDeletesTheConfigurationsOfTheWebhookFirst(t *testing.T) {
	text, err := os.ReadFile("../../config/webhook/500-webhook.yaml")
	if err != nil {
		t.Fatal(err)
	}
	webhook := &appsv1.Deployment{}
	for document := range strings.SplitSeq(string(text), "\n---\n") {
		if strings.Contains(document, "\nkind: Deployment\n") {
			if err := yaml.UnmarshalStrict([]byte(document), webhook); err != nil {
				t.Fatal(err)
			}
		}
	}
	configuration := func(name string) *admissionregistrationv1.MutatingWebhookConfiguration {
		return &admissionregistrationv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: name}}
	}
	e := newEnv(t, []runtime.Object{
		webhook, configuration("firesteel-pods"), configuration("firesteel-pods-team-b"),
		&admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "firesteel-validation"}},
	})
	for range 2 { // it can be repeated
		if err := e.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	var writes []string
	for _, action := range e.Kube.(*fake.Clientset).Actions() {
		if verb := action.GetVerb(); verb == "delete" || verb == "patch" {
			writes = append(writes, verb+" "+action.GetResource().Resource)
		}
	}
	if want := []string{"delete mutatingwebhookconfigurations", "delete validatingwebhookconfigurations", "patch deployments"}; !slices.Equal(writes[:3], want) {
		t.Errorf("the writes are %v, want first %v", writes, want)
	}
	if _, err := e.Kube.AdmissionregistrationV1().MutatingWebhookConfigurations().Get(t.Context(), "firesteel-pods-team-b", metav1.GetOptions{}); err != nil {
		t.Errorf("that of another installation: %v", err)
	}
	e.wantLog("deleted the MutatingWebhookConfiguration firesteel-pods")
}

func TestStopScalesNothingIfTheWebhookConfigurationStays(t *testing.T) {
	env := []corev1.EnvVar{{Name: podsVariable, Value: "firesteel-pods"}}
	webhook := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "webhook", Namespace: system, Labels: map[string]string{"app.kubernetes.io/part-of": "firesteel"}},
		Spec:       appsv1.DeploymentSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Env: env}}}}},
	}
	e := newEnv(t, []runtime.Object{webhook})
	e.Kube.(*fake.Clientset).PrependReactor("delete", "mutatingwebhookconfigurations", func(k8stesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(schema.GroupResource{}, "firesteel-pods", nil)
	})
	if err := e.Stop(t.Context()); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "delete the MutatingWebhookConfiguration firesteel-pods") {
		t.Errorf("the error is %v", err)
	}
	found, err := e.Kube.AppsV1().Deployments(system).Get(t.Context(), "webhook", metav1.GetOptions{})
	if err != nil || found.Spec.Replicas != nil {
		t.Errorf("the Deployment was scaled: %v, %v", found.Spec.Replicas, err)
	}
}

// What helm template prints is applied as plain objects by kubectl, and the Job of the hook runs at once.
func TestHookDoesNothingUnlessItsManagerKnowsHooks(t *testing.T) {
	scope := func(edit func(*corev1.ConfigMap)) []runtime.Object {
		settings := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: system, Name: "config-scope"}}
		edit(settings)
		return []runtime.Object{settings}
	}
	for name, test := range map[string]struct {
		cluster []runtime.Object
		want    bool
	}{
		"applied by kubectl": {scope(func(c *corev1.ConfigMap) {
			c.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl"}}
			c.Labels = map[string]string{"app.kubernetes.io/instance": "firesteel", "app.kubernetes.io/managed-by": "Helm"}
		}), false},
		"not applied yet": {nil, false},
		"Helm": {scope(func(c *corev1.ConfigMap) {
			c.Annotations = map[string]string{"meta.helm.sh/release-name": "firesteel"}
		}), true},
		"Argo CD": {scope(func(c *corev1.ConfigMap) {
			c.Annotations = map[string]string{"argocd.argoproj.io/tracking-id": "firesteel:/ConfigMap:firesteel-system/config-scope"}
		}), true},
		"Argo CD that tracks by label": {scope(func(c *corev1.ConfigMap) {
			c.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "argocd-controller"}}
		}), true},
	} {
		e := newEnv(t, test.cluster)
		got, err := e.RunsHooks(t.Context())
		if err != nil || got != test.want {
			t.Errorf("%s: the hook runs: %t, %v", name, got, err)
		}
		if log := strings.Join(e.log, ""); strings.Contains(log, "--no-hooks") == test.want {
			t.Errorf("%s: it logs %q", name, log)
		}
	}
}
