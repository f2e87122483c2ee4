// Push copies a release to a registry: push REGISTRY. It copies the images and the chart by their digests, and writes that
// registry into the manifests and into the chart. It needs neither Go nor a container engine.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/firesteel-dev/firesteel/hack/release/folder"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdin, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "push: %v\n", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, in io.Reader, out io.Writer) error {
	flags := flag.NewFlagSet("push", flag.ExitOnError)
	dir := flags.String("folder", "", "the folder of the release; by default, that of this program")
	charts := flags.String("charts", "", "where the chart's repository firesteel is, without oci://; by default REGISTRY/charts; "+folder.NoCharts+" leaves the chart in the folder")
	insecure := flags.Bool("insecure", false, "speak HTTP to the registry, without TLS; for localhost that is the default")
	user := flags.String("username", "", "the user at the registry; by default, the login of docker, podman or helm is used")
	fromInput := flags.Bool("password-stdin", false, "read the user's password from the standard input")
	flags.Usage = func() {
		fmt.Fprint(flags.Output(), "push [flags] REGISTRY, such as push registry.example.com/firesteel\n")
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() != 1 {
		flags.Usage()
		return fmt.Errorf("it takes one registry, not %d", flags.NArg())
	}
	if *dir == "" {
		program, err := os.Executable()
		if err != nil {
			return err
		}
		*dir = filepath.Dir(filepath.Dir(program)) // it is in the folder's bin
	}
	login := remote.WithAuthFromKeychain(keychain())
	if *user != "" {
		if !*fromInput {
			return fmt.Errorf("-username %s: give the password by -password-stdin", *user)
		}
		password, err := io.ReadAll(in)
		if err != nil {
			return err
		}
		login = remote.WithAuth(&authn.Basic{Username: *user, Password: strings.TrimRight(string(password), "\r\n")})
	}
	return folder.Dir(*dir).Push(ctx, folder.Target{
		Registry: flags.Arg(0), Charts: *charts, Insecure: *insecure, Options: []remote.Option{login},
	}, out)
}
