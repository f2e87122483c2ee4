// The archive has what is stored of applications. Its argument says what it does:
//
//	handler  stores attempts that ended: the handler, as a service behind a broker
//	history  is the view for Spark's History Server, in whose Pod it runs
//	serve    stores the event logs of Spark that send sends to it
//	send     sends the event log of a driver, as a native sidecar in its Pod
package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kelseyhightower/envconfig"
	"go.uber.org/zap"
	"knative.dev/pkg/logging"

	"github.com/firesteel-dev/firesteel/internal/command"
	"github.com/firesteel-dev/firesteel/internal/gc"
	_ "github.com/firesteel-dev/firesteel/pkg/archive/clouds" // the kinds of storage
	_ "github.com/firesteel-dev/firesteel/pkg/archive/clouds/large"
	"github.com/firesteel-dev/firesteel/pkg/handlers/archiver"
	"github.com/firesteel-dev/firesteel/pkg/handlers/service"
	"github.com/firesteel-dev/firesteel/pkg/redact/redactlog"
)

func main() {
	gc.KeepHeapSmall()
	command.Run(run)
}

// commands are what the argument may be.
var commands = map[string]func(context.Context) error{
	"handler": func(ctx context.Context) error { return service.Run(ctx, []string{archiver.Name}, newHandler) },
	"history": logged(runHistory),
	"send":    logged(sendEventLog),
	"serve":   logged(serveReceiver),
}

func run(ctx context.Context, args []string) error {
	if len(args) != 1 || commands[args[0]] == nil {
		return fmt.Errorf("the arguments are %q: write one of %s", strings.Join(args, " "), strings.Join(slices.Sorted(maps.Keys(commands)), ", "))
	}
	return commands[args[0]](ctx)
}

// logged gives a command its logger.
func logged(command func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		logger, err := zap.NewProduction(redactlog.Option())
		if err != nil {
			return fmt.Errorf("create logger: %w", err)
		}
		return command(logging.WithLogger(ctx, logger.Sugar()))
	}
}

// runHistory serves the view with the settings of the environment.
func runHistory(ctx context.Context) error {
	var env historyEnvironment
	if err := envconfig.Process("", &env); err != nil {
		return err
	}
	return serveHistory(ctx, env)
}
