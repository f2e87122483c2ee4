// Command kubectl-spark-upload uploads files of this machine for kubectl spark, and reads archives for it. Package pkg/upload documents its arguments, what it prints and
// its exit codes. It logs in as the tools of each cloud do.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/firesteel-dev/firesteel/internal/version"
	"github.com/firesteel-dev/firesteel/pkg/upload"

	"github.com/firesteel-dev/firesteel/cmd/kubectl-spark-upload/bucket"
	"github.com/firesteel-dev/firesteel/cmd/kubectl-spark-upload/reader"
)

const usage = `kubectl-spark-upload URL SHA256=PATH...
kubectl-spark-upload read URL

kubectl spark submit --upload-to URL runs it. It uploads files by the hash of their content, unless they
are stored already, and prints a line of JSON for each step.

kubectl spark runs it with read for --archive URL. It serves an archive at a port of this machine.

`

const (
	exitFailed = 1
	exitUsage  = 2
)

func main() { os.Exit(run()) }

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	flags := flag.NewFlagSet(upload.Program, flag.ContinueOnError)
	version.AddFlag(flags)
	flags.Usage = func() {
		fmt.Fprint(flags.Output(), usage)
		flags.PrintDefaults()
	}
	switch err := flags.Parse(os.Args[1:]); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return exitUsage
	case flags.NArg() == 0:
		flags.Usage()
		return exitUsage
	}
	if flags.Arg(0) == upload.ReadVerb {
		return read(ctx, flags.Args()[1:])
	}
	var files []upload.File
	for _, argument := range flags.Args()[1:] {
		file, err := upload.ParseFile(argument)
		if err != nil {
			fmt.Fprintf(os.Stderr, "error: %v\n", err)
			return exitUsage
		}
		files = append(files, file)
	}
	if err := bucket.Upload(ctx, flags.Arg(0), files, printer()); err != nil {
		return exitFailed
	}
	return 0
}

// read serves an archive.
func read(ctx context.Context, args []string) int {
	if len(args) != 1 {
		fmt.Fprintf(os.Stderr, "error: write one URL after %s\n", upload.ReadVerb)
		return exitUsage
	}
	if err := reader.Serve(ctx, args[0], os.Stdin, os.Stdout); err != nil {
		return exitFailed
	}
	return 0
}

// printer returns a function that prints events, one at a time.
func printer() func(upload.Event) {
	var mutex sync.Mutex
	lines := json.NewEncoder(os.Stdout)
	return func(event upload.Event) {
		mutex.Lock()
		defer mutex.Unlock()
		_ = lines.Encode(event) // the reader has closed the pipe
	}
}
