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

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/namespaces"
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
	if len(validation.IsDNS1123Label(name)) > 0 {
		return fmt.Errorf("%q is not the name of a namespace: write one such as team-a", name)
	}
	template, err := readTemplate(ctx, client, installation)
	if err != nil {
		return err
	}
	report := func(result provision.Result) error {
		_, err := fmt.Fprintln(out, result)
		return err
	}
	if err := provision.Create(ctx, client, report, namespaces.Namespace(template, name)); err != nil {
		return err
	}
	return provision.Create(ctx, client, report, namespaces.Objects(template, name)...)
}

// readTemplate reads config-namespaces.
func readTemplate(ctx context.Context, client dynamic.Interface, installation string) (namespaces.Template, error) {
	found, err := client.Resource(corev1.SchemeGroupVersion.WithResource("configmaps")).Namespace(installation).
		Get(ctx, config.NamespacesName, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return namespaces.DefaultTemplate(), nil
	case err != nil:
		return namespaces.Template{}, fmt.Errorf("read the ConfigMap %s/%s: %w", installation, config.NamespacesName, err)
	}
	settings := &corev1.ConfigMap{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(found.Object, settings); err != nil {
		return namespaces.Template{}, fmt.Errorf("decode the ConfigMap %s/%s: %w", installation, config.NamespacesName, err)
	}
	template, err := config.NewNamespaces(settings)
	if err != nil {
		return namespaces.Template{}, err
	}
	return *template, nil
}
