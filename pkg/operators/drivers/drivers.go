// Package drivers reads the drivers of applications that another operator runs, and completes those that Firesteel would make as the API server
// completes them, so that both can be compared.
package drivers

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/firesteel-dev/firesteel/pkg/overview"
)

// ofDrivers is the label that Spark gives to drivers.
const ofDrivers = "spark-role=driver"

// maxListed bounds the drivers that are read of one application.
const maxListed = 50

// Of returns the driver of an application by the name in its status, or else by the labels of the application; nil if there is none.
func Of(ctx context.Context, client kubernetes.Interface, o *overview.Object) (*corev1.Pod, error) {
	pods := client.CoreV1().Pods(o.Namespace())
	if o.DriverPod == "" {
		found, err := pods.List(ctx, metav1.ListOptions{LabelSelector: o.PodSelector() + "," + ofDrivers, Limit: maxListed})
		if err != nil {
			return nil, err
		}
		return o.PodsOf(found.Items).Driver, nil
	}
	pod, err := pods.Get(ctx, o.DriverPod, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, err
	case !o.IsDriver(pod):
		return nil, nil
	default:
		return pod, nil
	}
}

// Runs reports whether a driver has neither ended nor is being deleted.
func Runs(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp == nil && pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed
}

// Account returns the name of the account of a Pod.
func Account(pod *corev1.Pod) string {
	if pod.Spec.ServiceAccountName == "" {
		return "default"
	}
	return pod.Spec.ServiceAccountName
}

// DefaultPriority returns the name of the priority class that the API server gives to Pods without one; empty if there is none.
func DefaultPriority(ctx context.Context, client kubernetes.Interface) (name string, err error) {
	classes, err := client.SchedulingV1().PriorityClasses().List(ctx, metav1.ListOptions{})
	if err != nil {
		return "", err
	}
	for i := range classes.Items {
		if classes.Items[i].GlobalDefault {
			name = classes.Items[i].Name
		}
	}
	return name, nil
}

// Admit completes a driver as the API server does: with its account and the pull secrets of that, and with the default priority class. The account is
// nil if it is not known.
func Admit(driver *corev1.Pod, account *corev1.ServiceAccount, defaultPriority string) {
	driver.Spec.ServiceAccountName = Account(driver)
	if driver.Spec.PriorityClassName == "" {
		driver.Spec.PriorityClassName = defaultPriority
	}
	if len(driver.Spec.ImagePullSecrets) == 0 && account != nil {
		driver.Spec.ImagePullSecrets = account.ImagePullSecrets
	}
}
