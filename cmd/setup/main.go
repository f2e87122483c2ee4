// The setup prepares a cluster for Firesteel, and for its removal. The Helm chart runs it in hooks:
//
//	setup crds [-take-over] [-downgrade] API...
//	setup release-finalizers [-namespace NAMESPACE] [-hook]
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"strings"
	"time"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/firesteel-dev/firesteel/internal/command"
	"github.com/firesteel-dev/firesteel/internal/version"
	"github.com/firesteel-dev/firesteel/pkg/crds"
	"github.com/firesteel-dev/firesteel/pkg/diagnosis"
	"github.com/firesteel-dev/firesteel/pkg/operators"
	"github.com/firesteel-dev/firesteel/pkg/uninstall"
)

const (
	// crdLimit is how long the API server may take until it serves the CRDs.
	crdLimit = 2 * time.Minute
	// releaseLimit is how long the release of all finalizers may take.
	releaseLimit = 9 * time.Minute
)

func main() {
	log.SetFlags(0)
	command.Run(run)
}

const usage = `write one of
  setup crds [-take-over] [-downgrade] API...               apply the CRDs of APIs: %s
  setup release-finalizers [-namespace NAMESPACE] [-hook]   stop the controller and take Firesteel's finalizers off all objects`

func run(ctx context.Context, args []string) error {
	if len(args) > 0 {
		switch args[0] {
		case "crds":
			return applyCRDs(ctx, args[1:])
		case "release-finalizers":
			return releaseFinalizers(ctx, args[1:])
		}
	}
	return fmt.Errorf(usage, strings.Join(crds.APIs(), ", "))
}

func applyCRDs(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("crds", flag.ContinueOnError)
	takeOver := flags.Bool("take-over", false, "Replace CRDs that belong to another owner. All objects of their kinds stay.")
	downgrade := flags.Bool("downgrade", false, "Replace CRDs of a newer version. Fields that only they know are dropped from objects with the next write.")
	if err := flags.Parse(args); err != nil {
		return err
	}
	wanted, err := crds.Of(flags.Args()...)
	if err != nil {
		return err
	}
	cluster, err := connect()
	if err != nil {
		return err
	}
	client, err := dynamic.NewForConfig(cluster)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, crdLimit)
	defer cancel()
	result, err := crds.Apply(ctx, client, crds.Options{TakeOver: *takeOver, Downgrade: *downgrade}, wanted...)
	if err != nil {
		return err
	}
	for _, newer := range result.Newer {
		log.Printf("the CRD %s is of %s, which is newer than %s, and stays: setup crds -downgrade replaces it", newer.Name, newer.Version, version.String())
	}
	for _, crd := range wanted {
		log.Printf("the CRD %s is served", crd.GetName())
	}
	for _, release := range result.Releases {
		log.Print(diagnosis.CRDsInRelease(release).Message())
	}
	return reportOperators(ctx, cluster)
}

// reportOperators prints what is found of other operators in the cluster.
func reportOperators(ctx context.Context, cluster *rest.Config) error {
	kube, err := kubernetes.NewForConfig(cluster)
	if err != nil {
		return err
	}
	found, err := operators.Find(ctx, kube, nil, time.Now())
	if err != nil {
		log.Print(diagnosis.OtherOperatorsUnknown(err).Message())
	}
	for _, each := range found {
		log.Print(each.Message())
	}
	return nil
}

func releaseFinalizers(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("release-finalizers", flag.ContinueOnError)
	namespace := flags.String("namespace", "firesteel-system", "The namespace of the controller.")
	hook := flags.Bool("hook", false, "Do nothing unless Helm or Argo CD manages the installation. Other clients apply the hook's Job as a plain object, and it runs at once.")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("release-finalizers takes no arguments, and was given %s", strings.Join(flags.Args(), " "))
	}
	cluster, err := connect()
	if err != nil {
		return err
	}
	kube, err := kubernetes.NewForConfig(cluster)
	if err != nil {
		return err
	}
	objects, err := metadata.NewForConfig(cluster)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, releaseLimit)
	defer cancel()
	installation := &uninstall.Installation{Kube: kube, Metadata: objects, Namespace: *namespace, Logf: log.Printf}
	if *hook {
		if managed, err := installation.RunsHooks(ctx); err != nil || !managed {
			return err
		}
	}
	if err := installation.Stop(ctx); err != nil {
		return err
	}
	return installation.ReleaseFinalizers(ctx)
}

func connect() (*rest.Config, error) {
	cluster, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(
		clientcmd.NewDefaultClientConfigLoadingRules(), nil).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("read the kubeconfig: %w", err)
	}
	cluster.UserAgent = rest.DefaultKubernetesUserAgent() // for audit logs and managed fields
	cluster.QPS = -1                                      // the API server limits
	return cluster, nil
}
