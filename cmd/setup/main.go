// The setup prepares a cluster for Firesteel. The Helm chart runs it as a hook: setup crds [-take-over] API...
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/firesteel-dev/firesteel/internal/version"
	"github.com/firesteel-dev/firesteel/pkg/crds"
)

// limit is how long the API server may take until it serves the CRDs.
const limit = 2 * time.Minute

func main() {
	log.SetFlags(0)
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
	if len(args) == 0 || args[0] != "crds" {
		return fmt.Errorf("write setup crds [-take-over] and the names of APIs: %s", strings.Join(crds.APIs(), ", "))
	}
	flags := flag.NewFlagSet("crds", flag.ContinueOnError)
	takeOver := flags.Bool("take-over", false, "Replace CRDs that belong to another owner. All objects of their kinds stay.")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	wanted, err := crds.Of(flags.Args()...)
	if err != nil {
		return err
	}
	client, err := connect()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if err := crds.Apply(ctx, client, *takeOver, wanted...); err != nil {
		return err
	}
	for _, crd := range wanted {
		log.Printf("the CRD %s is served", crd.GetName())
	}
	return nil
}

func connect() (dynamic.Interface, error) {
	cluster, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(
		clientcmd.NewDefaultClientConfigLoadingRules(), nil).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("read the kubeconfig: %w", err)
	}
	cluster.UserAgent = rest.DefaultKubernetesUserAgent() // for audit logs and managed fields
	return dynamic.NewForConfig(cluster)
}
