// Package schedules reads and writes the schedules of both kinds, and reads their runs. Package variant has what differs between the kinds
// and needs no server.
package schedules

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/events"
	"github.com/firesteel-dev/firesteel/pkg/kube"
	"github.com/firesteel-dev/firesteel/pkg/schedule/variant"
)

// Of returns the kind of the schedule that an event is about; nil if the event is about no schedule.
func Of(object events.Object) *variant.Kind {
	for _, k := range variant.All {
		if wanted := k.GroupResource(); object.Group == wanted.Group && object.Resource == wanted.Resource {
			return k
		}
	}
	return nil
}

// Object returns the fields that events have about a schedule.
func Object(k *variant.Kind, s variant.Schedule) events.Object {
	resource, kind := k.GroupResource(), k.GroupVersionKind().Kind
	return events.Object{
		Group: resource.Group, Resource: resource.Resource, Kind: kind, Namespace: s.GetNamespace(), Name: s.GetName(), UID: s.GetUID(),
	}
}

// Client returns the client of the schedules of a kind in a namespace.
func Client(k *variant.Kind, clients kube.Clients, namespace string) kube.Client[variant.Schedule] {
	if k == variant.Kubeflow {
		return kube.ClientOf[variant.Schedule](clients.SparkoperatorV1beta2().ScheduledSparkApplications(namespace))
	}
	return kube.ClientOf[variant.Schedule](clients.FiresteelV1alpha1().ScheduledSparkApplications(namespace))
}

// Run reads a run of a schedule of a kind.
func Run(ctx context.Context, k *variant.Kind, clients kube.Clients, key types.NamespacedName) (metav1.Object, error) {
	if k == variant.Kubeflow {
		return clients.SparkoperatorV1beta2().SparkApplications(key.Namespace).Get(ctx, key.Name, metav1.GetOptions{})
	}
	return clients.SparkV1().SparkApplications(key.Namespace).Get(ctx, key.Name, metav1.GetOptions{})
}
