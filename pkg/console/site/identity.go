package site

import (
	"context"
	"io"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"

	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/console/live"
)

// identity reads with a user's own token: what the user may not read, the API server refuses.
type identity struct {
	objects  dynamic.Interface
	client   kubernetes.Interface
	settings func(ctx context.Context) (*config.Config, error)
	clock    clock.Clock
	// user is the user's name, and plans bounds the plans of all users.
	user  string
	plans *planSlots
}

func (i *identity) Object(ctx context.Context, ref live.Ref, version string) (*unstructured.Unstructured, error) {
	resource := schema.ParseGroupResource(ref.Resource).WithVersion(version)
	return i.objects.Resource(resource).Namespace(ref.Namespace).Get(ctx, ref.Name, metav1.GetOptions{})
}

// maxEvents bounds the Kubernetes Events that are read of one object.
const maxEvents = 200

func (i *identity) Events(ctx context.Context, namespace, name string, uid types.UID) ([]corev1.Event, error) {
	selector := fields.Set{"involvedObject.name": name, "involvedObject.uid": string(uid)}
	list, err := i.client.CoreV1().Events(namespace).List(ctx, metav1.ListOptions{FieldSelector: selector.String(), Limit: maxEvents})
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}

func (i *identity) Log(ctx context.Context, namespace, pod string, options *corev1.PodLogOptions) (io.ReadCloser, error) {
	return i.client.CoreV1().Pods(namespace).GetLogs(pod, options).Stream(ctx)
}
