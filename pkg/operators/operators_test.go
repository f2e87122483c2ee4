package operators_test

import (
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	k8stesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/record"

	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/diagnosis"
	"github.com/firesteel-dev/firesteel/pkg/operators"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func lease(namespace, name, holder string, renewed time.Duration) *coordinationv1.Lease {
	seconds := int32(15)
	return &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity: &holder, LeaseDurationSeconds: &seconds, RenewTime: &metav1.MicroTime{Time: now.Add(-renewed)},
		},
	}
}

func deployment(namespace, name string, ready int32) *appsv1.Deployment {
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Status: appsv1.DeploymentStatus{ReadyReplicas: ready},
	}
}

// mutating is a configuration with a webhook for all namespaces, or those with some labels.
func mutating(name, webhook string, namespaces *metav1.LabelSelector) *admissionregistrationv1.MutatingWebhookConfiguration {
	return &admissionregistrationv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Webhooks:   []admissionregistrationv1.MutatingWebhook{{Name: "other.example.org"}, {Name: webhook, NamespaceSelector: namespaces}},
	}
}

func validating(name, webhook string) *admissionregistrationv1.ValidatingWebhookConfiguration {
	return &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Webhooks: []admissionregistrationv1.ValidatingWebhook{{Name: webhook}},
	}
}

// inNamespaces selects namespaces by name, as the Kubeflow operator's chart does.
func inNamespaces(names ...string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
		{Key: "kubernetes.io/metadata.name", Operator: metav1.LabelSelectorOpIn, Values: names},
	}}
}

// allowed has the API server say whether the rights are there.
func allowed(client *fake.Clientset, allowed bool) *fake.Clientset {
	client.PrependReactor("create", "selfsubjectaccessreviews", func(k8stesting.Action) (bool, runtime.Object, error) {
		return true, &authorizationv1.SelfSubjectAccessReview{Status: authorizationv1.SubjectAccessReviewStatus{Allowed: allowed}}, nil
	})
	return client
}

func scope(t *testing.T, data map[string]string) *config.Scope {
	t.Helper()
	scope, err := config.NewScope(&corev1.ConfigMap{Data: data})
	if err != nil {
		t.Fatal(err)
	}
	return scope
}

func TestOtherOperatorsAreFoundWhereTheyServeTheSameNamespaces(t *testing.T) {
	const (
		podWebhook = "mutate--v1-pod.sparkoperator.k8s.io"
		kubeflow   = "spark-operator-controller-7d9f8b6c5-x2x4z_1b4e28ba"
	)
	teamA := map[string]string{"watched-namespaces": "team-a"}
	for name, test := range map[string]struct {
		there []runtime.Object
		scope map[string]string
		want  []string
	}{
		"nothing": {},
		"the Kubeflow operator": {
			there: []runtime.Object{lease("spark", "spark-operator-controller-lock", kubeflow, time.Second)},
			want: []string{"The Kubeflow operator runs: " + kubeflow + " holds the Lease spark/spark-operator-controller-lock. If it serves a namespace " +
				"that Firesteel serves, too, exclude that in its settings, or stop it: kubectl -n spark scale deployment spark-operator-controller --replicas=0."},
		},
		"the Kubeflow operator before version 2": {
			there: []runtime.Object{lease("spark", "spark-operator-lock", "my-spark-7d9f8b6c5-x2x4z", time.Second)},
			want:  []string{"kubectl -n spark scale deployment my-spark --replicas=0"},
		},
		"the Kubeflow operator, stopped": {there: []runtime.Object{lease("spark", "spark-operator-controller-lock", kubeflow, 16*time.Second)}},
		"a Lease without a holder":       {there: []runtime.Object{lease("spark", "spark-operator-controller-lock", "", 0)}},
		"another Lease":                  {there: []runtime.Object{lease("spark", "other", "x", 0)}},
		"the Apache operator with replicas": {
			there: []runtime.Object{
				lease("spark", "spark-operator-lease", "spark-kubernetes-operator-5d4-abc", 0), deployment("spark", "spark-kubernetes-operator", 2),
			},
			want: []string{"The Apache operator runs: spark-kubernetes-operator-5d4-abc holds the Lease spark/spark-operator-lease."},
		},
		"the Apache operator": {
			there: []runtime.Object{deployment("spark", "spark-kubernetes-operator", 1)},
			want: []string{"The Apache operator runs: the Deployment spark/spark-kubernetes-operator has 1 ready Pods. If it serves a namespace that Firesteel " +
				"serves, too, exclude that in its settings, or stop it: kubectl -n spark scale deployment spark-kubernetes-operator --replicas=0."},
		},
		"the Apache operator, stopped": {there: []runtime.Object{deployment("spark", "spark-kubernetes-operator", 0)}},
		"webhooks for all namespaces": {
			there: []runtime.Object{mutating("spark-operator-webhook", podWebhook, nil), validating("spark-operator-webhook", "validate.sparkoperator.k8s.io")},
			scope: teamA,
			want: []string{
				"kubectl delete mutatingwebhookconfiguration spark-operator-webhook.", "kubectl delete validatingwebhookconfiguration spark-operator-webhook.",
			},
		},
		"a webhook for a namespace that is served": {
			there: []runtime.Object{mutating("w", podWebhook, inNamespaces("team-a", "team-b"))}, scope: teamA, want: []string{"w of the Kubeflow operator selects"},
		},
		"a webhook for other namespaces":                      {there: []runtime.Object{mutating("w", podWebhook, inNamespaces("team-b"))}, scope: teamA},
		"a webhook for some namespaces, where all are served": {there: []runtime.Object{mutating("w", podWebhook, inNamespaces("team-b"))}, want: []string{"w of"}},
		"a webhook for namespaces, where labels select more": {
			there: []runtime.Object{mutating("w", podWebhook, inNamespaces("team-b"))},
			scope: map[string]string{"watched-namespaces": "team-a", "namespace-selector": "spark=yes"}, want: []string{"w of"},
		},
		"a webhook for namespaces with a label": {
			there: []runtime.Object{mutating("w", podWebhook, &metav1.LabelSelector{MatchLabels: map[string]string{"spark": "yes"}})},
			scope: teamA, want: []string{"w of"},
		},
		"webhooks of others": {there: []runtime.Object{mutating("w", "inject.istio.io", nil), validating("v", "policy.example.org")}},
	} {
		t.Run(name, func(t *testing.T) {
			client := allowed(fake.NewClientset(test.there...), true)
			found, err := operators.Find(t.Context(), client, scope(t, test.scope), now)
			if err != nil {
				t.Fatal(err)
			}
			if len(found) != len(test.want) {
				t.Fatalf("found %+v, want %d", found, len(test.want))
			}
			for i, want := range test.want {
				if got := found[i].Message(); !strings.Contains(got, want) || !strings.HasSuffix(got, "See docs/operators/moving-in.md.") {
					t.Errorf("it says   %s\nwant in it %s", got, want)
				}
			}
			if requests := client.Actions(); len(requests) != 7 {
				t.Errorf("it took %d requests, want 7", len(requests))
			}
		})
	}
}

func TestReporterReportsInLogAndEvents(t *testing.T) {
	settings := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "firesteel-system", Name: "config-scope"}}
	client := allowed(fake.NewClientset(settings, mutating("w", "mutate.sparkoperator.k8s.io", inNamespaces("team-a"))), true)
	recorder := record.NewFakeRecorder(9)
	core, log := observer.New(zap.InfoLevel)
	reporter := &operators.Reporter{
		Kube: client, Recorder: recorder, Logger: zap.New(core).Sugar(), Namespace: "firesteel-system", Now: func() time.Time { return now },
	}
	scopeChanged := reporter.Start(t.Context())
	scopeChanged(scope(t, nil))
	if event := <-recorder.Events; !strings.HasPrefix(event, "Warning AnotherOperatorFound The MutatingWebhookConfiguration w of ") {
		t.Errorf("the Event is %s", event)
	}
	if lines := log.FilterMessage("another operator found").Len(); lines != 1 {
		t.Errorf("the log has %d lines, want 1", lines)
	}
	client.PrependReactor("list", "leases", func(k8stesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewServiceUnavailable("later")
	})
	scopeChanged(scope(t, nil))
	<-recorder.Events // the webhook is found all the same
	if lines := log.FilterMessage("other operators not searched for").Len(); lines != 1 {
		t.Errorf("of the failure, the log has %d lines, want 1", lines)
	}
}

func TestWithoutTheRightsOneRequestIsSentAndThatIsLogged(t *testing.T) {
	client := allowed(fake.NewClientset(mutating("w", "mutate.sparkoperator.k8s.io", nil)), false)
	found, err := operators.Find(t.Context(), client, nil, now)
	if len(found) > 0 || err == nil {
		t.Fatalf("found %v: %v", found, err)
	}
	if requests := client.Actions(); len(requests) != 1 {
		t.Errorf("it took %d requests, want 1", len(requests))
	}
	if got := diagnosis.OtherOperatorsUnknown(err).Message(); !strings.Contains(got, "is missing. To give the rights, apply config/other-operators") {
		t.Errorf("it says %s", got)
	}
}
