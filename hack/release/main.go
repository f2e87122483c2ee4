// Command release builds the folder of a release: images, manifests, the kustomize base, the chart, the command line, SBOMs, provenance, checksums
// and, with a key or an identity, a signature. Run it by make release.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/firesteel-dev/firesteel/hack/release/build"
	"github.com/firesteel-dev/firesteel/hack/release/folder"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "release: %v\n", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	source := flag.String("source", "../..", "the root of the source tree")
	version := flag.String("version", "", "the version, such as v1.2.3; by default git's tag, or a version that names the commit")
	tag := flag.String("tag", "", "the tag of the images; by default the version")
	registry := flag.String("registry", "", "the registry that the manifests name; without it, push names one")
	url := flag.String("url", "", "the address of the folder on a web server, which krew's manifest names")
	flag.Parse()
	if flag.NArg() > 0 {
		return errors.New("it takes flags only")
	}
	root, err := filepath.Abs(*source)
	if err != nil {
		return err
	}
	if *version == "" {
		if *version, err = build.SourceVersion(ctx, root); err != nil {
			return err
		}
	}
	release := &build.Release{
		Source: root, Folder: folder.Dir(filepath.Join(root, "release")), Version: *version, Tag: *tag, Registry: *registry, URL: *url,
		Key:     os.Getenv("COSIGN_KEY"),
		Keyless: os.Getenv("SIGSTORE_ID_TOKEN") != "" || os.Getenv("ACTIONS_ID_TOKEN_REQUEST_TOKEN") != "",
	}
	if err := release.Run(ctx); err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "%s is in %s\n", *version, release.Folder)
	if release.Key == "" && !release.Keyless {
		fmt.Fprintln(os.Stderr, "It is not signed: COSIGN_KEY names no key, and there is no identity")
	}
	return nil
}
