package provision

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/dynamic"

	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/namespaces"
)

// CheckName returns an error if a text cannot be the name of a namespace.
func CheckName(name string) error {
	if len(validation.IsDNS1123Label(name)) > 0 {
		return fmt.Errorf("%.64q is not the name of a namespace: write one such as team-a", name)
	}
	return nil
}

// Namespace creates a namespace, unless it exists, with its objects.
func Namespace(ctx context.Context, client dynamic.Interface, template namespaces.Template, name string, report func(Result) error) error {
	if err := Create(ctx, client, report, namespaces.Namespace(template, name)); err != nil {
		return err
	}
	return Create(ctx, client, report, namespaces.Objects(template, name)...)
}

// Template reads config-namespaces in the namespace of an installation. Without that ConfigMap the template is the default one.
func Template(ctx context.Context, client dynamic.Interface, installation string) (namespaces.Template, error) {
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
