package migrate

import (
	"context"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/firesteel-dev/firesteel/internal/version"
	"github.com/firesteel-dev/firesteel/pkg/crds"
	"github.com/firesteel-dev/firesteel/pkg/migration"
)

var (
	definitions = apiextensionsv1.SchemeGroupVersion.WithResource("customresourcedefinitions")
	connects    = schema.GroupVersionResource{Group: "sparkoperator.k8s.io", Version: "v1alpha1", Resource: "sparkconnects"}
)

// readDefinitions reads the CRDs that have the names of Firesteel's.
func (r *reading) readDefinitions(ctx context.Context) error {
	all, err := crds.Of(crds.APIs()...)
	if err != nil {
		return err
	}
	for _, ours := range all {
		live, err := r.Dynamic.Resource(definitions).Get(ctx, ours.GetName(), metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			continue
		case err != nil:
			if err := r.unread(ctx, "CustomResourceDefinitions", withoutName(err, ours.GetName())); err != nil {
				return err
			}
			continue
		}
		r.report.AddDefinition(definitionOf(ours, live))
	}
	return r.readConnects(ctx)
}

// definitionOf returns what decides how Firesteel takes a CRD over. ours is Firesteel's CRD of that name.
func definitionOf(ours, live *unstructured.Unstructured) migration.Definition {
	d := migration.Definition{Name: live.GetName(), Versions: versions(ours), Owner: crds.Owner(live), Release: crds.Release(live)}
	d.StoredVersions, _, _ = unstructured.NestedStringSlice(live.Object, "status", "storedVersions") // the API server writes it
	if live.GetAnnotations()[crds.AnnotationSchema] != ours.GetAnnotations()[crds.AnnotationSchema] {
		d.Skew = crds.Skew(live, version.String())
	}
	return d
}

// versions returns the versions of a CRD.
func versions(crd *unstructured.Unstructured) (names []string) {
	list, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions") // Firesteel's own
	for _, entry := range list {
		if fields, ok := entry.(map[string]any); ok {
			name, _ := fields["name"].(string)
			names = append(names, name)
		}
	}
	return names
}

// readConnects reads the objects of the Kubeflow operator's kind that Firesteel does not serve.
func (r *reading) readConnects(ctx context.Context) error {
	options := metav1.ListOptions{Limit: r.pageSize}
	for {
		page, err := r.Dynamic.Resource(connects).Namespace(r.Namespace).List(ctx, options)
		switch {
		case apierrors.IsNotFound(err): // the kind is not served
			return nil
		case err != nil:
			return r.unread(ctx, connects.GroupResource().String(), err)
		}
		for i := range page.Items {
			r.report.AddConnect(connects.GroupResource().String(), page.Items[i].GetNamespace()+"/"+page.Items[i].GetName())
		}
		if options.Continue = page.GetContinue(); options.Continue == "" {
			return nil
		}
	}
}
