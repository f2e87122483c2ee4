package main

import (
	"context"
	"fmt"

	"github.com/kelseyhightower/envconfig"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	kubeclient "knative.dev/pkg/client/injection/kube/client"
	"knative.dev/pkg/injection/sharedmain"
	"knative.dev/pkg/logging"
	k8sruntime "knative.dev/pkg/observability/runtime/k8s"

	"github.com/firesteel-dev/firesteel/internal/httpserver"
	"github.com/firesteel-dev/firesteel/pkg/access/review"
	"github.com/firesteel-dev/firesteel/pkg/applications"
	"github.com/firesteel-dev/firesteel/pkg/archive"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/eventlog"
	"github.com/firesteel-dev/firesteel/pkg/eventlog/receiver"
	"github.com/firesteel-dev/firesteel/pkg/kube"
)

// serveEnvironment holds the environment variables of archive serve.
type serveEnvironment struct {
	Port      int `envconfig:"PORT" default:"8080"`
	ProbePort int `envconfig:"PROBE_PORT" default:"8081"`
	// Namespace is the namespace of the config maps.
	Namespace string `envconfig:"SYSTEM_NAMESPACE" required:"true"`
	// Certificate is a folder with tls.crt and tls.key, as a Secret has them. Without these files, the service serves HTTP.
	Certificate string `envconfig:"TLS_FOLDER"`
}

// serveReceiver stores what the sidecars of drivers send until ctx ends.
func serveReceiver(ctx context.Context) error {
	var env serveEnvironment
	if err := envconfig.Process("", &env); err != nil {
		return err
	}
	cluster, err := kube.Connect()
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(cluster)
	if err != nil {
		return fmt.Errorf("create client: %w", err)
	}
	logger := logging.FromContext(ctx)
	ctx = context.WithValue(ctx, kubeclient.Key{}, client)
	meters, _ := sharedmain.SetupObservabilityOrDie(ctx, "archive", logger, k8sruntime.NewProfilingServer(logger))
	defer func() { _ = meters.Shutdown(context.WithoutCancel(ctx)) }() // the process ends
	settings, err := followSettings(ctx, cluster, env.Namespace)
	if err != nil {
		return err
	}
	guard, err := newGuard(cluster, client, func() *config.Archive { return settings.Load().Archive })
	if err != nil {
		return err
	}
	handler := receiver.New(guard, func() int64 { return settings.Load().Archive.MaxLogBytes }, logger)
	return httpserver.Serve(ctx, handler, httpserver.Options{Name: "archive", Port: env.Port, ProbePort: env.ProbePort, Certificate: env.Certificate})
}

func newGuard(cluster *rest.Config, client kubernetes.Interface, settings func() *config.Archive) (*receiver.Cluster, error) {
	objects, err := metadata.NewForConfig(cluster)
	if err != nil {
		return nil, fmt.Errorf("create client: %w", err)
	}
	stores := archive.NewStores()
	return &receiver.Cluster{
		Client: client, Metadata: objects, APIs: applications.APIs(),
		Reviewer: review.NewReviewer(client, func() []string { return []string{eventlog.Audience} }, clock.RealClock{}),
		Archive: func(ctx context.Context, namespace string) (*archive.Archive, error) {
			url := settings().URLOf(namespace)
			if url == "" {
				return nil, nil
			}
			return stores.For(ctx, url)
		},
	}, nil
}

// followSettings returns the settings, which follow the ConfigMaps. The controller reports an invalid change on the ConfigMap.
func followSettings(ctx context.Context, cluster *rest.Config, namespace string) (*config.Store, error) {
	client, err := dynamic.NewForConfig(cluster)
	if err != nil {
		return nil, fmt.Errorf("create client: %w", err)
	}
	store := config.NewStore(logging.FromContext(ctx), func(_, _ *config.Config) {}, func(*corev1.ConfigMap, error) {})
	return store, store.Follow(ctx, client, namespace)
}
