// The handler runs one handler function behind a broker: handler <name>. It takes CloudEvents over HTTP.
package main

import (
	"context"
	"fmt"
	"log"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/kelseyhightower/envconfig"
	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"knative.dev/pkg/configmap/informer"
	"knative.dev/pkg/signals"

	"github.com/firesteel-dev/firesteel/pkg/client/clientset/versioned"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/events"
	"github.com/firesteel-dev/firesteel/pkg/function"
	"github.com/firesteel-dev/firesteel/pkg/handlers"
	"github.com/firesteel-dev/firesteel/pkg/handlers/subject"
)

type environment struct {
	Port int `envconfig:"PORT" default:"8080"`
	// Namespace holds the config maps.
	Namespace string `envconfig:"SYSTEM_NAMESPACE" required:"true"`
}

func main() {
	if err := run(signals.NewContext(), os.Args[1:]); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, args []string) error {
	var env environment
	if err := envconfig.Process("", &env); err != nil {
		return err
	}
	cluster, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(
		clientcmd.NewDefaultClientConfigLoadingRules(), nil).ClientConfig()
	if err != nil {
		return fmt.Errorf("find the cluster: %w", err)
	}
	cluster.QPS = -1 // the API server's Priority and Fairness is the limit
	client, err := versioned.NewForConfig(cluster)
	if err != nil {
		return fmt.Errorf("make client: %w", err)
	}
	dynamicClient, err := dynamic.NewForConfig(cluster)
	if err != nil {
		return fmt.Errorf("make client: %w", err)
	}
	kube, err := kubernetes.NewForConfig(cluster)
	if err != nil {
		return fmt.Errorf("make client: %w", err)
	}
	store, err := watchSettings(ctx, kube, env.Namespace)
	if err != nil {
		return err
	}
	all := handlers.All(client, dynamicClient, store.Load, subject.Live(kube.CoreV1().Namespaces()))
	handler, err := choose(all, args)
	if err != nil {
		return err
	}
	return function.Serve(ctx, env.Port, handler)
}

// watchSettings follows the controller's settings: handlers act as it would, and on what it serves.
func watchSettings(ctx context.Context, kube kubernetes.Interface, namespace string) (*config.Store, error) {
	logger, err := zap.NewProduction()
	if err != nil {
		return nil, fmt.Errorf("make logger: %w", err)
	}
	// The controller says on the ConfigMap what is refused.
	store := config.NewStore(logger.Sugar(), func(*config.Config, *config.Config) {}, func(*corev1.ConfigMap, error) {})
	watcher := informer.NewInformedWatcher(kube, namespace)
	store.WatchConfigs(watcher)
	if err := watcher.Start(ctx.Done()); err != nil {
		return nil, fmt.Errorf("watch the config maps of %s: %w", namespace, err)
	}
	return store, nil
}

func choose(all map[string]events.Handler, args []string) (events.Handler, error) {
	names := strings.Join(slices.Sorted(maps.Keys(all)), ", ")
	if len(args) != 1 {
		return nil, fmt.Errorf("name one handler: %s", names)
	}
	handler, known := all[args[0]]
	if !known {
		return nil, fmt.Errorf("there is no handler %q: name one of %s", args[0], names)
	}
	return handler, nil
}
