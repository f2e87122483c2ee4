// The handler runs one of Firesteel's handlers as a service behind a broker: handler <name>. That of the archive is in cmd/archive, with the libraries of
// the clouds.
package main

import (
	"context"

	"github.com/firesteel-dev/firesteel/internal/command"
	"github.com/firesteel-dev/firesteel/internal/gc"
	"github.com/firesteel-dev/firesteel/pkg/events"
	"github.com/firesteel-dev/firesteel/pkg/handlers"
	"github.com/firesteel-dev/firesteel/pkg/handlers/service"
)

func main() {
	gc.KeepHeapSmall()
	command.Run(func(ctx context.Context, args []string) error {
		return service.Run(ctx, args, func(_ context.Context, of service.Parts) (map[string]events.Handler, error) {
			return handlers.All(of.Clients, of.Dynamic, of.Settings, of.Namespaces), nil
		})
	})
}
