// The archive serves what is stored of applications: archive history is the view for Spark's History Server, in whose Pod it runs. archive handler is the
// handler that stores it, as a service behind a broker.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/kelseyhightower/envconfig"
	"go.uber.org/zap"
	"knative.dev/pkg/logging"

	"github.com/firesteel-dev/firesteel/internal/version"
	_ "github.com/firesteel-dev/firesteel/pkg/archive/clouds" // the kinds of storage
	_ "github.com/firesteel-dev/firesteel/pkg/archive/clouds/large"
	"github.com/firesteel-dev/firesteel/pkg/handlers/archiver"
	"github.com/firesteel-dev/firesteel/pkg/handlers/service"
	"github.com/firesteel-dev/firesteel/pkg/redact/redactlog"
)

// heapGrowth is how much the heap may grow until the next collection, in percent. It overrides $GOGC, but not $GOMEMLIMIT.
const heapGrowth = 30

func main() {
	debug.SetGCPercent(heapGrowth)
	version.AddFlag(flag.CommandLine)
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	err := run(ctx, flag.Args())
	stop()
	if err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) == 1 && args[0] == "handler" {
		return service.Run(ctx, []string{archiver.Name}, newHandler)
	}
	if len(args) != 1 || args[0] != "history" {
		return fmt.Errorf("the arguments are %q: write history or handler", strings.Join(args, " "))
	}
	logger, err := zap.NewProduction(redactlog.Option())
	if err != nil {
		return fmt.Errorf("create logger: %w", err)
	}
	var env historyEnvironment
	if err := envconfig.Process("", &env); err != nil {
		return err
	}
	return serveHistory(logging.WithLogger(ctx, logger.Sugar()), env)
}
