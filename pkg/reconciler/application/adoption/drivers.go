package adoption

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/view"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// FindDrivers returns the driver Pods of an application that another operator left. record is the record that results from
// its status. If the labels select no Pod that the application owns, FindDrivers looks for the Pod by its name: another writer may have
// changed the labels, or the other operator may have set no owner.
func FindDrivers(
	ctx context.Context, kube kubernetes.Interface, v *view.Application, record *v1alpha1.Record,
) ([]corev1.Pod, error) {
	found, err := ListDrivers(ctx, kube, v)
	if err != nil {
		return nil, err
	}
	app := v.App
	if len(found) > 0 || dialect.JustCreated(record) {
		return found, nil
	}
	without, err := v.Dialect.Adopt(app, record.DeepCopy(), nil)
	if err != nil || without.Launch == nil || lifecycle.CurrentState(without).Terminated() {
		return nil, err
	}
	pod, err := kube.CoreV1().Pods(app.GetNamespace()).Get(ctx, without.Launch.DriverPod, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("look for driver %s/%s: %w", app.GetNamespace(), without.Launch.DriverPod, err)
	case !dialect.Owns(app, pod) && !isUnownedDriver(v, without.Launch, pod):
		return nil, nil
	}
	return []corev1.Pod{*pod}, nil
}

// isUnownedDriver reports whether a Pod without any owner is the driver of a launch. Its labels must name the application and the
// launch's ID of Spark, and it must not be older than the application: another one of this name may have left it. The record then holds
// its UID, as that of any driver.
func isUnownedDriver(v *view.Application, launch *v1alpha1.Launch, pod *corev1.Pod) bool {
	selector, err := labels.Parse(v.Dialect.DriverLabels(v.App))
	id, ofFiresteel := pod.Labels[submission.LabelApplicationID], pod.Labels[dialect.LabelLaunch] != ""
	created := v.App.GetCreationTimestamp()
	return err == nil && selector.Matches(labels.Set(pod.Labels)) && len(pod.OwnerReferences) == 0 && !ofFiresteel &&
		id != "" && id == launch.ApplicationID && !pod.CreationTimestamp.Before(&created)
}

// ListDrivers lists the driver Pods of an application from the API server. Absence from the cache does not prove that
// another operator created no Pod.
func ListDrivers(ctx context.Context, kube kubernetes.Interface, v *view.Application) ([]corev1.Pod, error) {
	app := v.App
	pods, err := kube.CoreV1().Pods(app.GetNamespace()).List(ctx, metav1.ListOptions{LabelSelector: v.Dialect.DriverLabels(app)})
	if err != nil {
		return nil, fmt.Errorf("look for drivers of %s/%s: %w", app.GetNamespace(), app.GetName(), err)
	}
	return slices.DeleteFunc(pods.Items, func(pod corev1.Pod) bool { return !dialect.Owns(app, &pod) }), nil
}
