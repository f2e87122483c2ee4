package diagnosis

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// movingIn is the page for those who move from another operator.
const movingIn = "docs/operators/moving-in.md"

// SuffixKubeflow ends the names of all webhooks of the Kubeflow operator.
const SuffixKubeflow = ".sparkoperator.k8s.io"

const reasonAnotherOperator = "AnotherOperatorFound"

// OtherOperatorRuns explains that another Spark operator runs in the cluster. evidence is a sentence about what shows it. deployment is its
// Deployment, in namespace.
func OtherOperatorRuns(operator, evidence, namespace, deployment string) Explanation {
	return Explanation{
		Status: metav1.ConditionTrue, Reason: reasonAnotherOperator,
		Summary: fmt.Sprintf("The %s operator runs: %s.", operator, evidence),
		Remedy: fmt.Sprintf("If it serves a namespace that Firesteel serves, too, exclude that in its settings, or stop it: "+
			"kubectl -n %s scale deployment %s --replicas=0. See %s.", namespace, deployment, movingIn),
	}
}

// OtherOperatorWebhook explains that a webhook of the Kubeflow operator selects objects that Firesteel serves. kind and name are those
// of its configuration.
func OtherOperatorWebhook(kind, name string) Explanation {
	return Explanation{
		Status: metav1.ConditionTrue, Reason: reasonAnotherOperator,
		Summary: fmt.Sprintf("The %s %s of the Kubeflow operator selects namespaces that Firesteel serves. Without that operator, the API server "+
			"refuses their applications and driver Pods; with it, Pods are changed a second time.", kind, name),
		Remedy: fmt.Sprintf("Exclude the namespaces in its chart (spark.jobNamespaces), or delete it: kubectl delete %s %s. See %s.",
			strings.ToLower(kind), name, movingIn),
	}
}

// WebhookFailed explains that the API server refuses an application, or an object of its launch, since it cannot call a webhook.
func WebhookFailed(webhook string) Explanation {
	explanation := Explanation{
		Status: metav1.ConditionUnknown, Reason: "WebhookFailed",
		Summary: fmt.Sprintf("The API server cannot call the webhook %s, and refuses what the application needs until it can.", webhook),
		Remedy:  "Start what serves the webhook, or delete its configuration.",
	}
	if strings.HasSuffix(webhook, SuffixKubeflow) {
		explanation.Remedy = fmt.Sprintf("It is the Kubeflow operator's. If that operator is gone from this namespace, exclude the namespace in its chart "+
			"(spark.jobNamespaces), or delete its MutatingWebhookConfiguration and ValidatingWebhookConfiguration. See %s.", movingIn)
	}
	return explanation
}

// OtherOperatorsUnknown explains that Firesteel may not look for other operators.
func OtherOperatorsUnknown(cause error) Explanation {
	return Explanation{
		Status: metav1.ConditionUnknown, Reason: reasonAnotherOperator,
		Summary: fmt.Sprintf("Whether another Spark operator runs is unknown: %v.", cause),
		Remedy:  "To give the rights, apply config/other-operators, or set otherOperators.notice=true in the chart.",
	}
}

// CRDsInRelease explains that CRDs which Firesteel applied are in the manifest of another Helm release, <namespace>/<name>.
func CRDsInRelease(release string) Explanation {
	namespace, name, _ := strings.Cut(release, "/")
	return Explanation{
		Status: metav1.ConditionTrue, Reason: reasonAnotherOperator,
		Summary: fmt.Sprintf("The Helm release %s has CRDs that Firesteel needs: helm uninstall %s would delete them, and with them all applications.",
			release, name),
		Remedy: fmt.Sprintf("Before you uninstall it, upgrade it to an empty chart, which leaves them: helm -n %s upgrade %s ./empty. See %s.",
			namespace, name, movingIn),
	}
}
