// The handler runs one of Firesteel's handlers as a service behind a broker: handler <name>. That of the archive is in cmd/archive, with the libraries of
// the clouds.
package main

import (
	"context"
	"flag"
	"log"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/firesteel-dev/firesteel/internal/version"
	"github.com/firesteel-dev/firesteel/pkg/events"
	"github.com/firesteel-dev/firesteel/pkg/handlers"
	"github.com/firesteel-dev/firesteel/pkg/handlers/service"
)

// heapGrowth is how much the heap may grow until the next collection, in percent. It overrides $GOGC, but not $GOMEMLIMIT.
const heapGrowth = 30

func main() {
	debug.SetGCPercent(heapGrowth)
	version.AddFlag(flag.CommandLine)
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	err := service.Run(ctx, flag.Args(), func(_ context.Context, of service.Parts) (map[string]events.Handler, error) {
		return handlers.All(of.Clients, of.Dynamic, of.Settings, of.Namespaces), nil
	})
	stop()
	if err != nil {
		log.Fatal(err)
	}
}
