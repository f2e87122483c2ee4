package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"syscall"
	"time"

	"go.opentelemetry.io/otel"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"knative.dev/pkg/configmap"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/injection"
	"knative.dev/pkg/logging"
	"knative.dev/pkg/system"

	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/config/knative"
	"github.com/firesteel-dev/firesteel/pkg/kube/apierror"
	"github.com/firesteel-dev/firesteel/pkg/kube/kinds"
	"github.com/firesteel-dev/firesteel/pkg/kube/namespaced"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base"
)

// readConfigMaps checks the ConfigMaps that Knative reads next. It returns the scope, which decides what informers read, and where handlers
// run, which decides what controllers there are. If one of their ConfigMaps does not exist, the store of the settings reports that.
func readConfigMaps(ctx context.Context, cluster *rest.Config) (*config.Scope, *config.Handlers, error) {
	client, err := kubernetes.NewForConfig(cluster)
	if err != nil {
		return nil, nil, err
	}
	configMaps := client.CoreV1().ConfigMaps(system.Namespace())
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	read := map[string]*corev1.ConfigMap{}
	for _, name := range []string{config.ScopeName, config.HandlersName} {
		if read[name], err = readConfigMap(ctx, configMaps, name); err != nil {
			return nil, nil, err
		}
	}
	if err := knative.Check(ctx, configMaps); err != nil {
		return nil, nil, invalid(err)
	}
	scope, err := config.NewScope(read[config.ScopeName])
	if err != nil {
		return nil, nil, invalid(err)
	}
	handlers, err := config.NewHandlers(read[config.HandlersName])
	if err != nil {
		return nil, nil, invalid(err)
	}
	return scope, handlers, nil
}

// invalid says what to do about a setting that cannot be used.
func invalid(err error) error {
	return fmt.Errorf("invalid configuration: correct the ConfigMap and start again: %w", err)
}

// The time for which the controller waits for the API server at its start. If it ended at once instead, the kubelet would start it later
// after each try. It answers no probe meanwhile, and the kubelet ends it after a minute without an answer.
const startPeriod, startLimit = 250 * time.Millisecond, 40 * time.Second

// readConfigMap returns a ConfigMap, an empty one if it does not exist. It tries again while the API server cannot answer.
func readConfigMap(ctx context.Context, configMaps typedcorev1.ConfigMapInterface, name string) (*corev1.ConfigMap, error) {
	var read *corev1.ConfigMap
	var last error
	waited := wait.PollUntilContextCancel(ctx, startPeriod, true, func(ctx context.Context) (bool, error) {
		read, last = configMaps.Get(ctx, name, metav1.GetOptions{})
		return last == nil || apierrors.IsNotFound(last) || apierror.IsTerminal(last), nil
	})
	switch {
	case apierrors.IsNotFound(last):
		return &corev1.ConfigMap{}, nil
	case last != nil:
		return nil, fmt.Errorf("cannot read the ConfigMap %s/%s: %w", system.Namespace(), name, last)
	}
	return read, waited
}

// listedNamespaces returns the namespaces that informers read; nil if they read all.
func listedNamespaces(scope *config.Scope, restart func()) *namespaced.Namespaces {
	if scope.OnlyNamespaces() == nil {
		return nil
	}
	return namespaced.New(scope.OnlyNamespaces(), restart)
}

// errRestart ends the process's work to start it again, since its informers have to read other namespaces.
var errRestart = errors.New("other namespaces are to be read")

// startAgain replaces the program by a new run of it. If the process ended, the kubelet would delay its next start after some changes.
func startAgain() {
	program, err := os.Executable()
	if err == nil {
		err = syscall.Exec(program, os.Args, os.Environ()) //nolint:gosec // the program is this one
	}
	log.Fatalf("cannot start again to read other namespaces: %v", err)
}

// reporting reports which namespaces are read, and later those that cannot be.
func reporting(listed *namespaced.Namespaces, scope *config.Scope, construct injection.ControllerConstructor) injection.ControllerConstructor {
	return func(ctx context.Context, watcher configmap.Watcher) *controller.Impl {
		logger := logging.FromContext(ctx)
		logger.Infow("only the listed namespaces are read: neither CRDs nor labels of namespaces are watched, and discovery is asked for absent kinds",
			"namespaces", scope.Namespaces(), "discoveryPeriod", kinds.DiscoveryPeriod)
		listed.LogTo(logger)
		base.Must(ctx, listed.Measure(otel.GetMeterProvider()))
		return construct(ctx, watcher)
	}
}
