// Package uninstall takes Firesteel's finalizers off the objects of an installation, so that nothing waits for a controller
// that is gone. Records, annotations and drivers stay: a later controller goes on with them.
package uninstall

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/pager"
	"k8s.io/client-go/util/retry"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/applications"
	"github.com/firesteel-dev/firesteel/pkg/cluster/status"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/kube/apierror"
)

const (
	// ofFiresteel selects the Deployments of an installation: the controller, and the handlers behind a Broker, which create runs
	// with a finalizer.
	ofFiresteel = "app.kubernetes.io/part-of=firesteel"
	// podTimeout is how long the Pods of these Deployments may take to end. It is longer than their grace period.
	podTimeout   = 90 * time.Second
	pollInterval = 250 * time.Millisecond
	pageSize     = 500
	// writers is the number of patches in flight.
	writers = 8
	// podsVariable and validationVariable are the environment variables with which a Deployment names its MutatingWebhookConfiguration
	// and its ValidatingWebhookConfiguration.
	podsVariable       = "PODS_WEBHOOK_CONFIGURATION"
	validationVariable = "VALIDATION_WEBHOOK_CONFIGURATION"
	// helmRelease and argoTracking are annotations of what Helm and Argo CD manage, and argoManager is the field manager of Argo CD.
	helmRelease  = "meta.helm.sh/release-name"
	argoTracking = "argocd.argoproj.io/tracking-id"
	argoManager  = "argocd-controller"
)

// Kind is a kind whose objects have a finalizer of Firesteel.
type Kind struct {
	Resource  schema.GroupVersionResource
	Finalizer string
}

// Kinds returns all kinds whose objects have a finalizer. Schedules have none.
func Kinds() (kinds []Kind) {
	for _, api := range applications.APIs() {
		kinds = append(kinds, Kind{api.GroupVersionResource(), api.Finalizer})
	}
	return append(kinds, Kind{sparkv1.SchemeGroupVersion.WithResource("sparkclusters"), status.Finalizer})
}

// Installation is an installation that is uninstalled.
type Installation struct {
	Kube     kubernetes.Interface
	Metadata metadata.Interface
	// Namespace is that of the controller.
	Namespace string
	// Logf reports what was done.
	Logf func(format string, args ...any)
}

// RunsHooks reports whether Helm or Argo CD manages the installation: they create the chart's hook for its uninstallation alone. Other clients
// apply what the chart renders as plain objects, and the hook's Job would run at once. Then it logs what to do.
func (i *Installation) RunsHooks(ctx context.Context) (bool, error) {
	scope, err := i.Kube.CoreV1().ConfigMaps(i.Namespace).Get(ctx, config.ScopeName, metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return false, fmt.Errorf("read the ConfigMap %s/%s: %w", i.Namespace, config.ScopeName, err)
	}
	if err == nil && managesHooks(scope) {
		return true, nil
	}
	i.Logf("nothing was done: neither Helm nor Argo CD manages the ConfigMap %s/%s, and so this Job is no hook of an uninstallation. "+
		"Render the chart with --no-hooks, and delete the Job. To uninstall: docs/operators/uninstall.md", i.Namespace, config.ScopeName)
	return false, nil
}

// managesHooks reports whether an object of the chart was written by a client that knows its hooks. Flux uses Helm.
func managesHooks(object metav1.Object) bool {
	annotations := object.GetAnnotations()
	if annotations[helmRelease] != "" || annotations[argoTracking] != "" {
		return true
	}
	// Argo CD may track objects by a label that the chart has, too.
	return slices.ContainsFunc(object.GetManagedFields(), func(entry metav1.ManagedFieldsEntry) bool { return entry.Manager == argoManager })
}

// scaleBackoff bounds the attempts to scale a Deployment: some 12 s, beside the time of the attempts themselves.
var scaleBackoff = wait.Backoff{Duration: 100 * time.Millisecond, Factor: 3, Steps: 6}

// isTransient reports whether another attempt may succeed.
func isTransient(err error) bool { return !apierrors.IsNotFound(err) && !apierror.IsTerminal(err) }

// Stop scales the installation's Deployments to zero and waits until their Pods are gone: a controller that runs would add
// finalizers again. It does not wait longer than podTimeout, since the node of a Pod may be lost. The configurations of a webhook are deleted
// first: without an answer of the webhook, the API server refuses annotated Pods.
func (i *Installation) Stop(ctx context.Context) error {
	deployments := i.Kube.AppsV1().Deployments(i.Namespace)
	running, err := deployments.List(ctx, metav1.ListOptions{LabelSelector: ofFiresteel})
	if err != nil {
		return fmt.Errorf("list the Deployments in the namespace %s: %w", i.Namespace, err)
	}
	for _, deployment := range running.Items {
		if err := i.deleteWebhooks(ctx, &deployment); err != nil {
			return err
		}
	}
	for _, deployment := range running.Items {
		// A webhook of others, such as Knative's for bindings, may not answer for a moment.
		err := retry.OnError(scaleBackoff, isTransient, func() error {
			_, err := deployments.Patch(ctx, deployment.Name, types.MergePatchType, []byte(`{"spec":{"replicas":0}}`), metav1.PatchOptions{}, "scale")
			return err
		})
		if err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("scale the Deployment %s/%s to 0: %w", i.Namespace, deployment.Name, err)
		}
		i.Logf("scaled the Deployment %s/%s to 0", i.Namespace, deployment.Name)
	}
	for _, deployment := range running.Items {
		if err := i.untilNoPods(ctx, deployment.Name, deployment.Spec.Selector); err != nil {
			return err
		}
	}
	return nil
}

// deleteWebhooks deletes the webhook configurations that a Deployment serves, if it serves any.
func (i *Installation) deleteWebhooks(ctx context.Context, deployment *appsv1.Deployment) error {
	client := i.Kube.AdmissionregistrationV1()
	for _, container := range deployment.Spec.Template.Spec.Containers {
		for _, variable := range container.Env {
			switch variable.Name {
			case podsVariable:
				if err := i.deleteWebhook(ctx, "MutatingWebhookConfiguration", variable.Value, client.MutatingWebhookConfigurations().Delete); err != nil {
					return err
				}
			case validationVariable:
				if err := i.deleteWebhook(ctx, "ValidatingWebhookConfiguration", variable.Value, client.ValidatingWebhookConfigurations().Delete); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (i *Installation) deleteWebhook(
	ctx context.Context, kind, name string, remove func(ctx context.Context, name string, options metav1.DeleteOptions) error,
) error {
	if name == "" {
		return nil
	}
	switch err := remove(ctx, name, metav1.DeleteOptions{}); {
	case err == nil:
		i.Logf("deleted the %s %s", kind, name)
	case !apierrors.IsNotFound(err):
		return fmt.Errorf("delete the %s %s: %w", kind, name, err)
	}
	return nil
}

func (i *Installation) untilNoPods(ctx context.Context, name string, of *metav1.LabelSelector) error {
	selector, err := metav1.LabelSelectorAsSelector(of)
	if err != nil {
		return fmt.Errorf("read the selector of the Deployment %s: %w", name, err)
	}
	waiting, cancel := context.WithTimeout(ctx, podTimeout)
	defer cancel()
	err = wait.PollUntilContextCancel(waiting, pollInterval, true, func(ctx context.Context) (bool, error) {
		pods, err := i.Kube.CoreV1().Pods(i.Namespace).List(ctx, metav1.ListOptions{LabelSelector: selector.String()})
		if err != nil {
			return false, err
		}
		return !slices.ContainsFunc(pods.Items, func(pod corev1.Pod) bool {
			return pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed
		}), nil
	})
	switch {
	case err == nil:
		return nil
	case ctx.Err() == nil && wait.Interrupted(err):
		i.Logf("Pods of the Deployment %s/%s do not end within %s; if one still runs, it adds finalizers again", i.Namespace, name, podTimeout)
		return nil
	default:
		return fmt.Errorf("wait for the Pods of the Deployment %s/%s: %w", i.Namespace, name, err)
	}
}

// ReleaseFinalizers takes the finalizers off all objects that the installation serves, page by page. It can be repeated. It
// skips a kind that the API server does not serve.
func (i *Installation) ReleaseFinalizers(ctx context.Context) error {
	served, err := i.scope(ctx)
	if err != nil {
		return err
	}
	for _, kind := range Kinds() {
		for _, namespace := range served.namespaces {
			if err := i.releaseKind(ctx, kind, namespace, served.object); err != nil {
				return fmt.Errorf("release finalizers of %s: %w", kind.Resource.GroupResource(), err)
			}
		}
	}
	return nil
}

// served is what the installation serves.
type served struct {
	// namespaces are those to list: all at once, or each that the installation may read.
	namespaces []string
	object     func(metav1.Object) bool
}

// scope returns what the installation serves. Without the ConfigMap, these are all objects.
func (i *Installation) scope(ctx context.Context) (served, error) {
	all := []string{metav1.NamespaceAll}
	settings, err := i.Kube.CoreV1().ConfigMaps(i.Namespace).Get(ctx, config.ScopeName, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return served{all, func(metav1.Object) bool { return true }}, nil
	}
	if err != nil {
		return served{}, fmt.Errorf("read the ConfigMap %s/%s: %w", i.Namespace, config.ScopeName, err)
	}
	scope, err := config.NewScope(settings)
	if err != nil {
		return served{}, fmt.Errorf("read the ConfigMap %s/%s: %w", i.Namespace, config.ScopeName, err)
	}
	namespaces := map[string]labels.Set{}
	if scope.UsesNamespaceLabels() {
		list, err := i.Kube.CoreV1().Namespaces().List(ctx, metav1.ListOptions{})
		if err != nil {
			return served{}, fmt.Errorf("list namespaces: %w", err)
		}
		for _, namespace := range list.Items {
			namespaces[namespace.Name] = namespace.Labels
		}
	}
	labelsOf := func(name string) (labels.Set, bool) {
		found, ok := namespaces[name]
		return found, ok
	}
	if only := scope.OnlyNamespaces(); only != nil {
		all = only
	}
	return served{all, func(object metav1.Object) bool { return scope.Serves(object, labelsOf) }}, nil
}

func (i *Installation) releaseKind(ctx context.Context, kind Kind, namespace string, serves func(metav1.Object) bool) error {
	objects := i.Metadata.Resource(kind.Resource)
	list := pager.New(func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		return objects.Namespace(namespace).List(ctx, options)
	})
	list.PageSize = pageSize
	var released, others atomic.Int64
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(writers)
	err := list.EachListItem(groupCtx, metav1.ListOptions{}, func(item runtime.Object) error {
		object := item.(*metav1.PartialObjectMetadata)
		switch {
		case !slices.Contains(object.Finalizers, kind.Finalizer):
		case !serves(object):
			others.Add(1)
		default:
			group.Go(func() error {
				done, err := release(groupCtx, objects.Namespace(object.Namespace), object, kind.Finalizer)
				if done {
					released.Add(1)
				}
				return err
			})
		}
		return nil
	})
	if writeErr := group.Wait(); writeErr != nil {
		return writeErr // it ended the list, too
	}
	if apierrors.IsNotFound(err) {
		i.Logf("%s: not in this cluster", kind.Resource.GroupResource())
		return nil
	}
	if apierrors.IsForbidden(err) && namespace != metav1.NamespaceAll {
		i.Logf("%s: the namespace %s is left out, since it cannot be read: %v", kind.Resource.GroupResource(), namespace, err)
		return nil
	}
	if err != nil {
		return fmt.Errorf("list: %w", err)
	}
	if namespace != metav1.NamespaceAll {
		i.Logf("%s: released %d finalizers in %s", kind.Resource.GroupResource(), released.Load(), namespace)
		return nil
	}
	i.Logf("%s: released %d finalizers", kind.Resource.GroupResource(), released.Load())
	if others.Load() > 0 {
		i.Logf("%s: left %d finalizers on objects outside %s of the namespace %s", kind.Resource.GroupResource(), others.Load(), config.ScopeName, i.Namespace)
	}
	return nil
}

// release takes one finalizer off an object, if it has it. Finalizers of others stay.
func release(ctx context.Context, client metadata.ResourceInterface, object *metav1.PartialObjectMetadata, finalizer string) (done bool, err error) {
	err = retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		others := slices.DeleteFunc(append([]string{}, object.Finalizers...), func(name string) bool { return name == finalizer })
		if len(others) == len(object.Finalizers) {
			return nil
		}
		patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
			"uid": object.UID, "resourceVersion": object.ResourceVersion, "finalizers": others,
		}})
		if err != nil {
			return err
		}
		_, err = client.Patch(ctx, object.Name, types.MergePatchType, patch, metav1.PatchOptions{})
		if apierrors.IsConflict(err) {
			newest, readErr := client.Get(ctx, object.Name, metav1.GetOptions{})
			if readErr != nil {
				return readErr
			}
			object = newest
			return err
		}
		done = err == nil
		return err
	})
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("%s/%s: %w", object.Namespace, object.Name, err)
	}
	return done, nil
}
