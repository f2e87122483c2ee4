package drivers

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

// IsOrphan reports whether a driver Pod may run although a record with this launch does not name it.
func IsOrphan(pod *corev1.Pod, launch *v1alpha1.Launch) bool {
	id := pod.Labels[dialect.LabelLaunch]
	switch {
	case id == "", lifecycle.PodEnded(pod) && pod.DeletionTimestamp != nil:
		return false // it has another owner, or its attempt is released
	case launch == nil:
		return true
	case launch.DriverUID == "" && !launch.Released:
		return id != launch.ID // the Pod with this ID belongs to the launch, and is not recorded yet
	default:
		return pod.UID != launch.DriverUID
	}
}

// FindFenced reads the driver Pod of a launch that was fenced and whose Pod is not recorded. It returns nil if there is no
// such Pod. Another operator may have created the Pod.
func FindFenced(
	ctx context.Context, kube kubernetes.Interface, app dialect.Application, launch *v1alpha1.Launch,
) (*corev1.Pod, error) {
	found, err := kube.CoreV1().Pods(app.GetNamespace()).Get(ctx, launch.DriverPod, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("look for driver %s/%s: %w", app.GetNamespace(), launch.DriverPod, err)
	}
	id, owned := found.Labels[dialect.LabelLaunch], dialect.Owns(app, found)
	switch {
	case id == "" && owned, id == launch.ID && (owned || len(found.OwnerReferences) == 0):
		return found, nil
	default: // also if it belongs to another application: users can write the fence of a first launch
		return nil, nil
	}
}
