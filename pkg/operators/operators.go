// Package operators finds other Spark operators in a cluster, and reports them. Two operators must not serve the same applications,
// and the Kubeflow operator leaves webhooks behind that refuse what Firesteel creates.
//
//	Lease, held           the Kubeflow operator, or the Apache operator with several replicas
//	Deployment            the Apache operator with one replica, which has no Lease
//	webhook configurations   those of the Kubeflow operator, whether it runs or not
//
// Leases and Deployments are found by the names that the operators' charts give them, in all namespaces. Nothing is watched, and
// nothing is asked again without a cause: at the start and after a change of the scope.
package operators

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes"

	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/diagnosis"
)

// The names of the other operators.
const (
	Kubeflow = "Kubeflow"
	Apache   = "Apache"
)

const (
	// apacheDeployment is the name of the Deployment of the Apache operator, whatever the release is called.
	apacheDeployment = "spark-kubernetes-operator"
)

// leases holds the operators by the names of their Leases: of the Kubeflow operator's chart since version 2 and before, and of the
// Apache operator.
var leases = []struct{ name, operator string }{
	{"spark-operator-controller-lock", Kubeflow}, {"spark-operator-lock", Kubeflow}, {"spark-operator-lease", Apache},
}

// Find returns what it finds of other operators that concerns the scope; nil stands for all namespaces. It sends seven requests; one, and
// none that is refused, if the rights are missing. If some fail, it returns the first error, and what the others found.
func Find(ctx context.Context, kube kubernetes.Interface, scope *config.Scope, now time.Time) (found []diagnosis.Explanation, first error) {
	if err := mayFind(ctx, kube); err != nil {
		return nil, err
	}
	// running are the namespaces of the operators that were found.
	running := map[string]bool{}
	for _, lease := range leases {
		held, err := kube.CoordinationV1().Leases(metav1.NamespaceAll).List(ctx, named(lease.name))
		if err != nil {
			first = cmp.Or(first, err)
			continue
		}
		for i := range held.Items {
			if existing := &held.Items[i]; existing.Name == lease.name && heldNow(existing, now) && !running[existing.Namespace] {
				running[existing.Namespace] = true
				found = append(found, diagnosis.OtherOperatorRuns(lease.operator,
					fmt.Sprintf("%s holds the Lease %s/%s", *existing.Spec.HolderIdentity, existing.Namespace, existing.Name), existing.Namespace, deploymentOf(lease.operator, existing)))
			}
		}
	}
	deployments, err := kube.AppsV1().Deployments(metav1.NamespaceAll).List(ctx, named(apacheDeployment))
	if err == nil {
		found = append(found, deployed(deployments.Items, running)...)
	}
	webhooks, ofWebhooks := findWebhooks(ctx, kube, scope)
	return append(found, webhooks...), cmp.Or(first, err, ofWebhooks)
}

// mayFind returns nil if the process has the rights of config/other-operators. It asks for the one that nothing else needs.
func mayFind(ctx context.Context, kube kubernetes.Interface) error {
	review, err := kube.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, &authorizationv1.SelfSubjectAccessReview{
		Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
			Group: admissionregistrationv1.GroupName, Resource: "mutatingwebhookconfigurations", Verb: "list",
		}},
	}, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("ask for the right to list mutatingwebhookconfigurations: %w", err)
	}
	if !review.Status.Allowed {
		return errors.New("the right to list mutatingwebhookconfigurations is missing")
	}
	return nil
}

// Deployment is a Deployment of another operator.
type Deployment struct {
	// Operator is Kubeflow or Apache.
	Operator string
	*appsv1.Deployment
}

// charts holds the operators by the label app.kubernetes.io/name that their charts set.
var charts = map[string]string{"spark-operator": Kubeflow, apacheDeployment: Apache}

// Deployments returns the Deployments of other operators in a namespace, or in all if that is empty, whether they run or not.
func Deployments(ctx context.Context, kube kubernetes.Interface, namespace string) ([]Deployment, error) {
	const label = "app.kubernetes.io/name"
	var found []Deployment
	for _, chart := range slices.Sorted(maps.Keys(charts)) {
		list, err := kube.AppsV1().Deployments(namespace).List(ctx, metav1.ListOptions{LabelSelector: label + "=" + chart})
		if err != nil {
			return found, err
		}
		for i := range list.Items {
			if list.Items[i].Labels[label] == chart {
				found = append(found, Deployment{charts[chart], &list.Items[i]})
			}
		}
	}
	return found, nil
}

func named(name string) metav1.ListOptions {
	return metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector(metav1.ObjectNameField, name).String()}
}

// heldNow reports whether a Lease has a holder that renews it.
func heldNow(lease *coordinationv1.Lease, now time.Time) bool {
	spec := lease.Spec
	if spec.HolderIdentity == nil || *spec.HolderIdentity == "" || spec.RenewTime == nil || spec.LeaseDurationSeconds == nil {
		return false
	}
	return now.Before(spec.RenewTime.Add(time.Duration(*spec.LeaseDurationSeconds) * time.Second))
}

// deploymentOf returns the name of the Deployment whose Pod holds a Lease. The holder is named after its Pod: <Deployment>-<hash>-<suffix>,
// and maybe an underscore and a random id.
func deploymentOf(operator string, lease *coordinationv1.Lease) string {
	if operator == Apache {
		return apacheDeployment
	}
	pod, _, _ := strings.Cut(*lease.Spec.HolderIdentity, "_")
	parts := strings.Split(pod, "-")
	if len(parts) < 3 {
		return pod
	}
	return strings.Join(parts[:len(parts)-2], "-")
}

// deployed returns the Deployments of the Apache operator in namespaces where no Lease showed it.
func deployed(deployments []appsv1.Deployment, running map[string]bool) []diagnosis.Explanation {
	var found []diagnosis.Explanation
	for i := range deployments {
		deployment := &deployments[i]
		if deployment.Name == apacheDeployment && !running[deployment.Namespace] && deployment.Status.ReadyReplicas > 0 {
			found = append(found, diagnosis.OtherOperatorRuns(Apache,
				fmt.Sprintf("the Deployment %s/%s has %d ready Pods", deployment.Namespace, deployment.Name, deployment.Status.ReadyReplicas), deployment.Namespace, deployment.Name))
		}
	}
	return found
}

func findWebhooks(ctx context.Context, kube kubernetes.Interface, scope *config.Scope) ([]diagnosis.Explanation, error) {
	var found []diagnosis.Explanation
	mutating, err := kube.AdmissionregistrationV1().MutatingWebhookConfigurations().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	for _, configuration := range mutating.Items {
		if slices.ContainsFunc(configuration.Webhooks, func(w admissionregistrationv1.MutatingWebhook) bool {
			return concerns(scope, w.Name, w.NamespaceSelector)
		}) {
			found = append(found, diagnosis.OtherOperatorWebhook("MutatingWebhookConfiguration", configuration.Name))
		}
	}
	validating, err := kube.AdmissionregistrationV1().ValidatingWebhookConfigurations().List(ctx, metav1.ListOptions{})
	if err != nil {
		return found, err
	}
	for _, configuration := range validating.Items {
		if slices.ContainsFunc(configuration.Webhooks, func(w admissionregistrationv1.ValidatingWebhook) bool {
			return concerns(scope, w.Name, w.NamespaceSelector)
		}) {
			found = append(found, diagnosis.OtherOperatorWebhook("ValidatingWebhookConfiguration", configuration.Name))
		}
	}
	return found, nil
}

// concerns reports whether a webhook is the Kubeflow operator's and may select a namespace that is served. The labels of namespaces are
// not read, besides the one with the name, which every namespace has.
func concerns(scope *config.Scope, webhook string, namespaces *metav1.LabelSelector) bool {
	if !strings.HasSuffix(webhook, diagnosis.SuffixKubeflow) {
		return false
	}
	selector, err := metav1.LabelSelectorAsSelector(namespaces)
	if err != nil || namespaces == nil || scope == nil {
		return true
	}
	requirements, _ := selector.Requirements()
	served, listed := scope.ListedNamespaces()
	if !listed || slices.ContainsFunc(requirements, func(r labels.Requirement) bool { return r.Key() != corev1.LabelMetadataName }) {
		return true
	}
	return slices.ContainsFunc(served, func(name string) bool { return selector.Matches(labels.Set{corev1.LabelMetadataName: name}) })
}
