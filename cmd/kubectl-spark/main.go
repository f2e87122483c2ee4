// Command kubectl-spark is kubectl's plugin for Spark applications.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/pkg/cli/root"
)

func main() { os.Exit(run()) }

func run() int {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	cancelOnSignal(stop)
	o := cli.NewOptions(cli.Program(os.Args[0]), genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr})
	return o.Run(ctx, root.New(o), os.Args[1:])
}

// cancelOnSignal cancels a context when the process is asked to end. When it is asked again, it ends at once.
func cancelOnSignal(cancel context.CancelFunc) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, os.Interrupt)
	go func() {
		<-signals
		signal.Stop(signals)
		if cli.Terminal(os.Stderr) {
			fmt.Fprintln(os.Stderr) // what follows is not in the line of ^C
		}
		cancel()
	}()
}
