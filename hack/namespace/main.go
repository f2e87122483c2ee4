// Command namespace creates a namespace, unless it exists, with what drivers need there. The templates are those of config-namespaces in
// the namespace of $SYSTEM_NAMESPACE, by default firesteel-system. Without that ConfigMap they are the default ones. What exists stays
// as it is, and is named.
package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log"
	"os"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/firesteel-dev/firesteel/pkg/namespaces/provision"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: namespace NAME")
	}
	cluster, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(clientcmd.NewDefaultClientConfigLoadingRules(), nil).ClientConfig()
	if err != nil {
		log.Fatalf("read the kubeconfig: %v", err)
	}
	client, err := dynamic.NewForConfig(cluster)
	if err != nil {
		log.Fatal(err)
	}
	if err := run(context.Background(), client, cmp.Or(os.Getenv("SYSTEM_NAMESPACE"), "firesteel-system"), os.Args[1], os.Stdout); err != nil {
		log.Fatalf("namespace: %v", err)
	}
}

func run(ctx context.Context, client dynamic.Interface, installation, name string, out io.Writer) error {
	if err := provision.CheckName(name); err != nil {
		return err
	}
	template, err := provision.Template(ctx, client, installation)
	if err != nil {
		return err
	}
	return provision.Namespace(ctx, client, template, name, func(result provision.Result) error {
		_, err := fmt.Fprintln(out, result)
		return err
	})
}
