package integration

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	certresources "knative.dev/pkg/webhook/certificates/resources"

	"github.com/firesteel-dev/firesteel/test/harness/firesteel"
)

// secondInstallation is the installation of examples/kustomize/second-installation.
var secondInstallation = firesteel.WebhookOf{Namespace: "firesteel-team-b", Suffix: "-team-b"}

// secondWebhook applies the second installation, and starts its webhook. The env is that of its namespace.
func (w *webhookEnv) secondWebhook(t *testing.T) *webhookEnv {
	t.Helper()
	file := filepath.Join(t.TempDir(), "second.yaml")
	_, err := w.Plane.Kubectl(t.Context(), "", "kustomize", filepath.Join(repository, "examples/kustomize/second-installation"), "--output="+file)
	w.must(err)
	text, err := os.ReadFile(file)
	w.must(err)
	documents := slices.DeleteFunc(bytes.Split(text, []byte("\n---\n")), func(document []byte) bool {
		return bytes.Contains(document, []byte("knative.dev/")) // which is not installed here
	})
	all := string(bytes.Join(documents, []byte("\n---\n")))
	_, err = w.Plane.Kubectl(t.Context(), all, "apply", "--server-side", "--filename=-")
	w.must(err)
	t.Cleanup(func() {
		_, err := w.Plane.Kubectl(context.Background(), all, "delete", "--wait=false", "--filename=-")
		w.must(err)
	})
	s := w.in(t)
	s.ns = "team-b"
	w.must(w.AddNamespace(t.Context(), s.ns))
	started, err := w.StartWebhookOf(t.Context(), secondInstallation, filepath.Join(w.programs, "webhook"), t.TempDir())
	w.must(err)
	w.processes.add(started.Process)
	w.logOnFailure(started.Process)
	w.must(started.UntilAnswering(t.Context(), s.ns))
	return &webhookEnv{env: s, Webhook: started, user: s.as("")}
}

var sparkConfigMapAnnotation = map[string]string{"spark-operator.k8s.io/sparkConfigMap": "c"}

// changesPods reports whether a webhook changes an annotated Pod of the env's namespace.
func (w *webhookEnv) changesPods() (changes bool, err error) {
	pod, err := w.submit(plainRunPod("asked", "driver", sparkConfigMapAnnotation), metav1.DryRunAll)
	return err == nil && len(mountedIn(pod, "spark-kubernetes-driver")) > 0, err
}

func (w *webhookEnv) eventually(what string, holds func() bool) {
	w.Helper()
	if err := wait.PollUntilContextTimeout(w.Context(), pollInterval, timeout, true, func(context.Context) (bool, error) { return holds(), nil }); err != nil {
		w.Fatalf("%s: %v", what, err)
	}
}

// Two installations with scopes of their own have their webhooks, rules, settings and certificates side by side. The test starts a second
// webhook.
func TestInstallationsSideBySideServeTheirOwnNamespaces(t *testing.T) {
	first := newWebhookEnv(t)
	first.must(first.Configure(t.Context(), "config-scope", map[string]string{"watched-namespaces": first.ns}))
	t.Cleanup(func() {
		first.must(first.Configure(context.Background(), "config-scope", map[string]string{"watched-namespaces": ""}))
	})
	second := first.secondWebhook(t)
	first.untilValidating()
	second.untilValidating()
	for _, e := range []*webhookEnv{first, second} {
		if changes, err := e.changesPods(); err != nil || !changes {
			t.Errorf("%s: its webhook changes Pods: %t, %v", e.ns, changes, err)
		}
	}
	if calls := second.called("Pod", func() { _, _ = first.changesPods() }); calls != 0 {
		t.Errorf("the second webhook is called %d times for a Pod of the first one's namespace", calls)
	}

	second.Webhook.Kill()
	if changes, err := first.changesPods(); err != nil || !changes {
		t.Errorf("while the second webhook is down, the first one changes Pods: %t, %v", changes, err)
	}
	first.untilValidating()
	ignore := admissionregistrationv1.Ignore
	second.must(second.Change(t.Context(), func(c *admissionregistrationv1.MutatingWebhookConfiguration) { c.Webhooks[0].FailurePolicy = &ignore }))
	second.eventually("while its webhook is down, Pods of the second are left as they are, though the first webhook is asked", func() bool {
		changes, err := second.changesPods()
		return err == nil && !changes
	})
	second.restart()
	second.cannotDecide()

	second.must(second.ConfigureIn(t.Context(), secondInstallation.Namespace, "config-admission", map[string]string{"max-executors": "1"}))
	two := `{apiVersion: spark.apache.org/v1, kind: SparkApplication, spec: {mainClass: Pi, jars: "local:///pi.jar", runtimeVersions: {sparkVersion: 4.1.1}, sparkConf: {spark.executor.instances: "2"}}}`
	second.eventually("the rules of the second installation refuse in its namespace", func() bool {
		err := second.user.try(two)
		return apierrors.IsForbidden(err) && strings.Contains(err.Error(), "max-executors")
	})
	if err := first.user.try(two); err != nil {
		t.Errorf("the rules of the second installation refuse in the first one's namespace: %v", err)
	}

	first.must(first.Configure(t.Context(), "config-admission", map[string]string{"quota": "hold"}))
	t.Cleanup(func() {
		first.must(first.Configure(context.Background(), "config-admission", map[string]string{"quota": ""}))
	})
	second.must(second.ConfigureIn(t.Context(), secondInstallation.Namespace, "config-admission", map[string]string{"quota": "fail"}))
	one := refusable{"spark.apache.org/v1", "SparkApplication",
		"mainClass: Pi\njars: local:///pi.jar\nruntimeVersions: {sparkVersion: 4.1.1}\nsparkConf: {spark.executor.instances: '1'}\n"}
	for _, e := range []*webhookEnv{first, second} {
		e.limitedTo(corev1.ResourceList{"pods": resource.MustParse("3")})
		e.must(e.apply(one, "unfinished")) // no controller runs
	}
	first.eventually("the first installation warns of its own setting", func() bool {
		first.user.warnings.take()
		err := first.apply(one, "asked", metav1.DryRunAll)
		return err == nil && strings.Contains(first.user.warnings.take(), "ResourceQuota "+first.ns+"/team lacks pods (2 requested, 1 available of 3)")
	})
	second.eventually("the second installation refuses by its own setting", func() bool {
		err := second.apply(one, "asked", metav1.DryRunAll)
		return apierrors.IsForbidden(err) && strings.Contains(err.Error(), "requests too much of pods (2 requested, 1 available)")
	})

	authorities := map[string]bool{}
	for _, namespace := range []string{firesteel.SystemNamespace, secondInstallation.Namespace} {
		secret, err := first.Kube.CoreV1().Secrets(namespace).Get(t.Context(), "webhook-certificates", metav1.GetOptions{})
		first.must(err)
		authorities[string(secret.Data[certresources.CACert])] = true
	}
	if len(authorities) != 2 || authorities[""] {
		t.Errorf("the webhooks have %d authorities of their own", len(authorities))
	}
}

// cannotDecide takes a right away from the webhook of the second installation: it fails on Pods, and leaves manifests to the controller. The alert
// selects the Pods, and nothing that was refused for a mistake of its user.
func (w *webhookEnv) cannotDecide() {
	w.Helper()
	roles := w.Kube.RbacV1().ClusterRoles()
	changed := func(change func([]rbacv1.PolicyRule) []rbacv1.PolicyRule, scope map[string]string) {
		role, err := roles.Get(w.Context(), "firesteel-webhook"+secondInstallation.Suffix, metav1.GetOptions{})
		w.must(err)
		role.Rules = change(role.Rules)
		_, err = roles.Update(w.Context(), role, metav1.UpdateOptions{})
		w.must(err)
		w.must(w.ConfigureIn(w.Context(), secondInstallation.Namespace, "config-scope", scope))
	}
	var all []rbacv1.PolicyRule
	changed(func(rules []rbacv1.PolicyRule) []rbacv1.PolicyRule {
		all = slices.Clone(rules)
		return slices.DeleteFunc(rules, func(rule rbacv1.PolicyRule) bool { return slices.Contains(rule.Resources, "namespaces") })
	}, map[string]string{"watched-namespaces": "", "namespace-selector": "kubernetes.io/metadata.name=" + w.ns})

	w.eventually("Pods are refused, with the right that is missing", func() bool {
		_, err := w.changesPods()
		return apierrors.IsInternalError(err) && strings.Contains(err.Error(), `cannot get resource "namespaces"`)
	})
	w.user.warnings.take()
	if err := w.apply(refusable{"spark.apache.org/v1", "SparkApplication", badApache}, "unchecked", metav1.DryRunAll); err != nil {
		w.Errorf("a manifest is refused: %v", err)
	}
	if given := w.user.warnings.take(); !strings.Contains(given, "the labels of its namespace cannot be read") {
		w.Errorf("the warnings about a manifest are %q", given)
	}
	for _, e := range w.alertsRead("FiresteelWebhookFails") {
		if e.labels["name"] != "pods.firesteel.dev" || e.labels["rejection_code"] != "500" {
			w.Errorf("the alert selects %v", e.labels)
		}
	}
	changed(func([]rbacv1.PolicyRule) []rbacv1.PolicyRule { return all }, map[string]string{"watched-namespaces": w.ns, "namespace-selector": ""})
	w.eventually("Pods are changed again", func() bool {
		changes, err := w.changesPods()
		return err == nil && changes
	})
}
