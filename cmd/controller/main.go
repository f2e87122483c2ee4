// The controller runs the reconcilers and, unless config-handlers says otherwise, the handlers. It sends events
// to $K_SINK where that is set.
package main

import (
	"context"
	"flag"
	"log"

	"github.com/kelseyhightower/envconfig"
	"k8s.io/apimachinery/pkg/types"
	filteredfactory "knative.dev/pkg/client/injection/kube/informers/factory/filtered"
	"knative.dev/pkg/injection"
	"knative.dev/pkg/injection/sharedmain"
	"knative.dev/pkg/logging"
	"knative.dev/pkg/signals"

	sparkclient "github.com/firesteel-dev/firesteel/pkg/client/injection/client"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/events"
	"github.com/firesteel-dev/firesteel/pkg/handlers"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/sparkapplication"
)

// environment is what the process is told by variables; a SinkBinding sets the first two.
type environment struct {
	Sink    string `envconfig:"K_SINK"`
	CACerts string `envconfig:"K_CA_CERTS"`
}

func main() {
	ctx := filteredfactory.WithSelectors(signals.NewContext(), sparkapplication.DriverSelector)
	local := flag.Bool("local", false, "Run outside the cluster as the only controller: no leader election, no health probes.")
	config := injection.ParseAndGetRESTConfigOrDie()
	if config.QPS == 0 {
		config.QPS = -1 // the API server's Priority and Fairness is the limit
	}
	sparkapplication.WithoutHiddenCreates(config)
	if *local {
		ctx = sharedmain.WithHealthProbesDisabled(sharedmain.WithHADisabled(ctx))
	}
	sharedmain.MainWithConfig(ctx, "controller", config, sparkapplication.NewController(newRelay))
}

func newRelay(ctx context.Context, store *config.Store, progress func(types.NamespacedName)) sparkapplication.Teller {
	logger := logging.FromContext(ctx)
	sink, err := newSink()
	if err != nil {
		logger.Fatalw("The sink of $K_SINK cannot be used", "error", err)
	}
	inProcess := func(handler string) bool { return store.Load().Handlers.InProcess(handler) }
	broker, err := events.NewBroker(handlers.All(sparkclient.Get(ctx)), inProcess)
	if err != nil {
		logger.Fatalw("The handlers cannot be set up", "error", err)
	}
	relay, err := events.NewRelay(events.RelayConfig{Sink: sink, Handlers: broker, OnProgress: progress, Logger: logger})
	if err != nil {
		logger.Fatalw("The relay cannot be set up", "error", err)
	}
	go relay.Run(ctx)
	return relay
}

// newSink is nil where no sink is named.
func newSink() (events.Sink, error) {
	var env environment
	if err := envconfig.Process("", &env); err != nil {
		return nil, err
	}
	if env.Sink == "" {
		log.Print("K_SINK is not set: events stay in this process")
		return nil, nil
	}
	return events.NewHTTPSink(env.Sink, events.WithCACerts(env.CACerts))
}
