package main

import (
	"context"
	"fmt"

	coordinationv1client "k8s.io/client-go/kubernetes/typed/coordination/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/utils/clock"

	"github.com/firesteel-dev/firesteel/pkg/archive"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/events"
	"github.com/firesteel-dev/firesteel/pkg/handlers/archiver"
	"github.com/firesteel-dev/firesteel/pkg/handlers/service"
)

// newHandler creates the handler of the archive, and deletes what is not to be retained until ctx ends.
func newHandler(ctx context.Context, of service.Parts) (map[string]events.Handler, error) {
	core, err := corev1client.NewForConfigAndClient(of.Cluster, of.Connections)
	if err != nil {
		return nil, fmt.Errorf("create client: %w", err)
	}
	stores := archive.NewStores()
	go archiver.Retain(ctx, stores, func() (*config.Archive, bool) { return of.Settings().Archive, true })
	leases, err := coordinationv1client.NewForConfigAndClient(of.Cluster, of.Connections)
	if err != nil {
		return nil, fmt.Errorf("create client: %w", err)
	}
	follower := archiver.NewFollower(of.Clients, core, leases, of.Namespace, stores, of.Settings, of.Namespaces, func() bool { return true })
	go follower.Run(ctx)
	handler := archiver.NewHandler(of.Clients, core, stores, of.Settings, of.Namespaces, clock.RealClock{})
	return map[string]events.Handler{archiver.Name: handler}, nil
}
