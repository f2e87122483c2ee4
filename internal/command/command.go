// Package command is the main function of Firesteel's services that are no Knative controllers, and of its setup: flags, signals and the exit code. What
// the controller and the webhook do instead is Knative's sharedmain.
package command

import (
	"context"
	"flag"
	"log"
	"os"
	"os/signal"
	"syscall"

	"github.com/firesteel-dev/firesteel/internal/version"
)

// Run runs a command with the arguments of the process until it returns. A signal to stop ends its context. If it returns an error, the error is printed and
// the process exits with 1.
func Run(run func(ctx context.Context, args []string) error) {
	version.AddFlag(flag.CommandLine)
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	err := run(ctx, flag.Args())
	stop()
	if err != nil {
		log.Fatal(err)
	}
}
