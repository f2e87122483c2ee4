package controlplane

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"
)

// InterruptDeletion leaves a Pod half deleted: it has a deletion timestamp and a grace period of 0, and still exists. An API
// server leaves it so if it ends, or its client disconnects, during the deletion.
func (c *ControlPlane) InterruptDeletion(ctx context.Context, namespace, name string) error {
	key := base64.StdEncoding.EncodeToString([]byte("/registry/pods/" + namespace + "/" + name))
	found, err := c.askEtcd(ctx, "range", fmt.Sprintf(`{"key": %q}`, key))
	if err != nil {
		return err
	}
	if len(found.Values) != 1 {
		return fmt.Errorf("etcd has %d Pods %s/%s", len(found.Values), namespace, name)
	}
	format, pod := protobuf.NewSerializer(scheme.Scheme, scheme.Scheme), &corev1.Pod{}
	kind := corev1.SchemeGroupVersion.WithKind("Pod")
	if _, _, err := format.Decode(found.Values[0].Value, &kind, pod); err != nil {
		return err
	}
	pod.SetGroupVersionKind(kind)
	pod.DeletionTimestamp, pod.DeletionGracePeriodSeconds = &metav1.Time{Time: time.Now()}, new(int64)
	var stored bytes.Buffer
	if err := format.Encode(pod, &stored); err != nil {
		return err
	}
	_, err = c.askEtcd(ctx, "put", fmt.Sprintf(`{"key": %q, "value": %q}`, key, base64.StdEncoding.EncodeToString(stored.Bytes())))
	return err
}
