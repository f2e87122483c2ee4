package incluster

import (
	"context"
	"fmt"

	"go.uber.org/zap"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/console/live"
	"github.com/firesteel-dev/firesteel/pkg/console/liveapi"
	"github.com/firesteel-dev/firesteel/pkg/console/visible"
	"github.com/firesteel-dev/firesteel/pkg/kube/kinds"
)

// NewLive returns what runs in a cluster, whose configuration is that of kube.Configure. It follows kinds that come and go. The caller calls its
// Watch and its Run.
func NewLive(ctx context.Context, cluster *rest.Config, settings func() *config.Config, logger *zap.SugaredLogger) (*liveapi.Live, error) {
	installed, err := kinds.New(cluster, kinds.DiscoveryPeriod)
	if err != nil {
		return nil, err
	}
	if settings().Scope.OnlyNamespaces() != nil {
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
		Dynamic: objects, Kubernetes: pods, Clock: clock.RealClock{}, Logger: logger,
		Settings: func() live.Settings {
			current := settings().Console
			return live.Settings{TeamLabel: current.TeamLabel, UserLabel: current.UserLabel, Prices: live.Prices(current.Prices)}
		},
	})
	return &liveapi.Live{Live: l, Views: visible.New(l, clock.RealClock{})}, nil
}
