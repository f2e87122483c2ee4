package liveapi

import (
	"context"
	"fmt"

	"go.uber.org/zap"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/firesteel-dev/firesteel/pkg/console/live"
	"github.com/firesteel-dev/firesteel/pkg/console/visible"
	"github.com/firesteel-dev/firesteel/pkg/kube/kinds"
)

// Options are what New needs besides a connection.
type Options struct {
	// Settings and Versions are those of live.Options.
	Settings func() live.Settings
	Versions map[string]string
	// DiscoveryOnly reports whether the process may not watch CustomResourceDefinitions.
	DiscoveryOnly bool
	Logger        *zap.SugaredLogger
}

// New returns what runs in a cluster, whose configuration is that of kube.Configure. It follows kinds that come and go. The caller calls its Watch
// and its Run.
func New(ctx context.Context, cluster *rest.Config, options Options) (*Live, error) {
	installed, err := kinds.New(cluster, kinds.DiscoveryPeriod)
	if err != nil {
		return nil, err
	}
	if options.DiscoveryOnly {
		installed.DiscoveryOnly()
	}
	go installed.Run(ctx)
	ofObjects := rest.CopyConfig(cluster)
	ofObjects.Wrap(installed.Wrap)
	objects, err := dynamic.NewForConfig(ofObjects)
	if err != nil {
		return nil, fmt.Errorf("create client of objects: %w", err)
	}
	ofPods := rest.CopyConfig(cluster)
	ofPods.ContentType, ofPods.AcceptContentTypes = runtime.ContentTypeProtobuf, runtime.ContentTypeProtobuf+","+runtime.ContentTypeJSON
	pods, err := kubernetes.NewForConfig(ofPods)
	if err != nil {
		return nil, fmt.Errorf("create client of Pods: %w", err)
	}
	l := live.New(live.Options{
		Dynamic: objects, Kubernetes: pods, Versions: options.Versions, Clock: clock.RealClock{}, Logger: options.Logger, Settings: options.Settings,
	})
	return &Live{Live: l, Views: visible.New(l, clock.RealClock{})}, nil
}
