package actions

import (
	"context"

	"k8s.io/client-go/dynamic"

	"github.com/firesteel-dev/firesteel/pkg/overview"
)

// Remove plans to delete an object.
func Remove(s *Subject) *Plan {
	return &Plan{Effect: deletion(s.View), Done: "deleted", do: func(ctx context.Context, client dynamic.Interface, options WriteOptions) (*Object, error) {
		return nil, Delete(ctx, client, s.Object, options)
	}}
}

// deletion says what the deletion of an object does.
func deletion(o *overview.Object) string {
	switch {
	case o.Kind == overview.Schedule:
		return "The schedule is deleted with all its runs: those that run end first. No run starts any more."
	case o.Kind == overview.Cluster:
		return "The cluster is deleted with its master and its workers: applications that use it fail."
	case o.Ended():
		return "The application is deleted with what is left of its Pods. Its record goes with it; what was archived stays."
	default:
		return "The driver and its executors end, and the application is deleted. Its record goes with it; what was archived stays."
	}
}
