package incluster

import (
	"context"

	"go.uber.org/zap"
	"k8s.io/client-go/rest"

	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/console/live"
	"github.com/firesteel-dev/firesteel/pkg/console/liveapi"
)

// NewLive returns what runs in a cluster, whose configuration is that of kube.Configure. It follows kinds that come and go. The caller calls its
// Watch and its Run.
func NewLive(ctx context.Context, cluster *rest.Config, settings func() *config.Config, logger *zap.SugaredLogger) (*liveapi.Live, error) {
	return liveapi.New(ctx, cluster, liveapi.Options{
		DiscoveryOnly: settings().Scope.OnlyNamespaces() != nil, Logger: logger,
		Settings: func() live.Settings {
			current := settings().Console
			return live.Settings{TeamLabel: current.TeamLabel, UserLabel: current.UserLabel, Prices: live.Prices(current.Prices)}
		},
	})
}
