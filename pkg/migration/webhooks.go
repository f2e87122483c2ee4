package migration

import (
	"fmt"
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/firesteel-dev/firesteel/pkg/applications"
	"github.com/firesteel-dev/firesteel/pkg/diagnosis"
)

// Webhook is a webhook that is called for driver Pods or for applications.
type Webhook struct {
	// Kind and Configuration are its configuration.
	Kind, Configuration string
	Name                string
	// Mutating reports whether it changes objects. Pods reports whether it is called for driver Pods.
	Mutating, Pods bool
	// Closed reports whether the API server refuses an object if the webhook does not answer.
	Closed bool
	// Namespace and Service name the Service that answers; empty if the webhook has a URL.
	Namespace, Service string
	namespaces         *metav1.LabelSelector
}

// MutatingWebhooks returns the webhooks of a configuration that are called for drivers or applications.
func MutatingWebhooks(configuration *admissionregistrationv1.MutatingWebhookConfiguration) (found []Webhook) {
	for i := range configuration.Webhooks {
		w := &configuration.Webhooks[i]
		if webhook, ok := webhookOf(w.Rules, w.ObjectSelector, w.NamespaceSelector, w.FailurePolicy, w.ClientConfig); ok {
			webhook.Kind, webhook.Configuration, webhook.Name, webhook.Mutating = "MutatingWebhookConfiguration", configuration.Name, w.Name, true
			found = append(found, webhook)
		}
	}
	return found
}

// ValidatingWebhooks returns the webhooks of a configuration that are called for drivers or applications.
func ValidatingWebhooks(configuration *admissionregistrationv1.ValidatingWebhookConfiguration) (found []Webhook) {
	for i := range configuration.Webhooks {
		w := &configuration.Webhooks[i]
		if webhook, ok := webhookOf(w.Rules, w.ObjectSelector, w.NamespaceSelector, w.FailurePolicy, w.ClientConfig); ok {
			webhook.Kind, webhook.Configuration, webhook.Name = "ValidatingWebhookConfiguration", configuration.Name, w.Name
			found = append(found, webhook)
		}
	}
	return found
}

// drivers are the labels of a driver of each operator.
var drivers = []labels.Set{
	{"spark-role": "driver", "spark.operator/name": "spark-kubernetes-operator", "spark-version": "4"},
	{"spark-role": "driver", "sparkoperator.k8s.io/launched-by-spark-operator": "true", "spark-version": "4"},
}

// sparkGroups are the API groups of applications.
var sparkGroups = func() (groups []string) {
	for _, api := range applications.APIs() {
		groups = append(groups, api.Group)
	}
	return groups
}()

// sparkResources are the resources of those groups, and all resources.
var sparkResources = []string{"sparkapplications", "sparkclusters", "scheduledsparkapplications", "*/*"}

func webhookOf(rules []admissionregistrationv1.RuleWithOperations, objects, namespaces *metav1.LabelSelector,
	policy *admissionregistrationv1.FailurePolicyType, client admissionregistrationv1.WebhookClientConfig,
) (Webhook, bool) {
	w := Webhook{namespaces: namespaces, Closed: policy == nil || *policy == admissionregistrationv1.Fail}
	ofApplications := false
	for _, rule := range rules {
		created := slices.Contains(rule.Operations, admissionregistrationv1.Create) || slices.Contains(rule.Operations, admissionregistrationv1.OperationAll)
		switch {
		case !created:
		case matchesAny(rule.APIGroups, "") && matchesAny(rule.Resources, "pods", "*/*"):
			w.Pods = w.Pods || selectsDrivers(objects)
		case matchesAny(rule.APIGroups, sparkGroups...) && matchesAny(rule.Resources, sparkResources...):
			ofApplications = true
		}
	}
	if client.Service != nil {
		w.Namespace, w.Service = client.Service.Namespace, client.Service.Name
	}
	return w, w.Pods || ofApplications
}

func matchesAny(list []string, wanted ...string) bool {
	return slices.ContainsFunc(list, func(entry string) bool { return entry == "*" || slices.Contains(wanted, entry) })
}

func selectsDrivers(selector *metav1.LabelSelector) bool {
	parsed, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil || selector == nil {
		return true
	}
	return slices.ContainsFunc(drivers, func(set labels.Set) bool { return parsed.Matches(set) })
}

// Selects reports whether a webhook is called for objects of a namespace. If the labels are not known (nil), it may be.
func (w *Webhook) Selects(namespace string, ofNamespace map[string]string) bool {
	parsed, err := metav1.LabelSelectorAsSelector(w.namespaces)
	if err != nil || w.namespaces == nil || ofNamespace == nil {
		return true
	}
	set := labels.Merge(ofNamespace, labels.Set{"kubernetes.io/metadata.name": namespace})
	return parsed.Matches(set)
}

// AddWebhook adds a webhook. broken is why its Service cannot answer; empty if it can, or if that is not known. selected are the namespaces with
// applications that the webhook selects.
func (r *Report) AddWebhook(w Webhook, broken string, selected []string) {
	name := fmt.Sprintf("The webhook %s of the %s %s", w.Name, w.Kind, w.Configuration)
	what := "applications"
	if w.Pods {
		what = "driver Pods"
	}
	for _, namespace := range selected {
		switch {
		case broken != "" && w.Closed:
			r.Add(w.Kind+w.Configuration+w.Name, Item{Severity: Blocks, Area: Webhooks, Message: fmt.Sprintf(
				"%s is called for %s, and %s: the API server refuses them. Start what serves it, exclude the namespaces, or delete it: kubectl delete %s %s",
				name, what, broken, strings.ToLower(w.Kind), w.Configuration)}, namespace)
		case w.Mutating && w.Pods && !strings.HasSuffix(w.Name, diagnosis.SuffixKubeflow):
			r.Add(w.Kind+w.Configuration+w.Name, Item{Severity: Step, Area: Webhooks, Message: fmt.Sprintf(
				"%s changes driver Pods. It will change Firesteel's as well", name)}, namespace)
		}
	}
}
