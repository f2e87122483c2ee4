package migrate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/migration"
)

// readWebhooks reads the webhooks that are called for drivers and applications.
func (r *reading) readWebhooks(ctx context.Context) error {
	var all []migration.Webhook
	mutating, err := r.Kube.AdmissionregistrationV1().MutatingWebhookConfigurations().List(ctx, metav1.ListOptions{})
	if err != nil {
		return r.unread(ctx, "webhooks", err)
	}
	for i := range mutating.Items {
		if mutating.Items[i].Labels[partOf] != firesteel {
			all = append(all, migration.MutatingWebhooks(&mutating.Items[i])...)
		}
	}
	validating, err := r.Kube.AdmissionregistrationV1().ValidatingWebhookConfigurations().List(ctx, metav1.ListOptions{})
	if err := r.unread(ctx, "validating webhooks", err); err != nil {
		return err
	}
	if err == nil {
		for i := range validating.Items {
			if validating.Items[i].Labels[partOf] != firesteel {
				all = append(all, migration.ValidatingWebhooks(&validating.Items[i])...)
			}
		}
	}
	labels, err := r.labelsOfNamespaces(ctx)
	if err != nil {
		return err
	}
	for _, w := range all {
		var selected []string
		for _, namespace := range slices.Sorted(maps.Keys(r.namespaces)) {
			if w.Selects(namespace, labels[namespace]) {
				selected = append(selected, namespace)
			}
		}
		if len(selected) == 0 {
			continue
		}
		broken, err := r.whyUnanswered(ctx, w)
		if err := r.unread(ctx, "whether webhooks answer", err); err != nil {
			return err
		}
		r.report.AddWebhook(w, broken, selected)
	}
	return nil
}

const (
	partOf    = "app.kubernetes.io/part-of"
	firesteel = "firesteel"
)

// labelsOfNamespaces returns the labels of the namespaces with objects. A namespace that was not read has none.
func (r *reading) labelsOfNamespaces(ctx context.Context) (map[string]map[string]string, error) {
	found := map[string]map[string]string{}
	for namespace := range r.namespaces {
		read, err := r.Kube.CoreV1().Namespaces().Get(ctx, namespace, metav1.GetOptions{})
		if err != nil {
			if err := r.unread(ctx, "labels of namespaces, so webhooks are taken to select them", withoutName(err, namespace)); err != nil {
				return nil, err
			}
			continue
		}
		found[namespace] = map[string]string{}
		maps.Copy(found[namespace], read.Labels)
	}
	return found, nil
}

// whyUnanswered returns why the Service of a webhook cannot answer; empty if it can.
func (r *reading) whyUnanswered(ctx context.Context, w migration.Webhook) (string, error) {
	if w.Service == "" {
		return "", nil
	}
	service, err := r.Kube.CoreV1().Services(w.Namespace).Get(ctx, w.Service, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return fmt.Sprintf("its Service %s/%s does not exist", w.Namespace, w.Service), nil
	case err != nil:
		return "", withoutName(err, w.Service)
	case service.Spec.Type == corev1.ServiceTypeExternalName:
		return "", nil
	}
	endpoints, err := r.Kube.DiscoveryV1().EndpointSlices(w.Namespace).List(ctx, metav1.ListOptions{LabelSelector: discoveryv1.LabelServiceName + "=" + w.Service})
	if err != nil {
		return "", err
	}
	for _, slice := range endpoints.Items {
		for _, endpoint := range slice.Endpoints {
			if endpoint.Conditions.Ready == nil || *endpoint.Conditions.Ready {
				return "", nil
			}
		}
	}
	return fmt.Sprintf("its Service %s/%s has no Pod that is ready", w.Namespace, w.Service), nil
}

// withoutName removes the name of an object from an error of the API server, so that the errors of alike objects are one.
func withoutName(err error, name string) error {
	return errors.New(strings.ReplaceAll(err.Error(), fmt.Sprintf("%q ", name), ""))
}
