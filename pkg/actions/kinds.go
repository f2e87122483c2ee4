package actions

import (
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/firesteel-dev/firesteel/pkg/overview"
)

// Kind is a kind of objects that Firesteel serves.
type Kind struct {
	Noun overview.Kind
	schema.GroupResource
	// Versions are those in which the kind may be served, the preferred one first. Another operator may serve an older one only.
	Versions []string
	// names are those by which kubectl knows the kind, without its group.
	names []string
}

var (
	apacheVersions   = []string{"v1", "v1beta1", "v1alpha1"}
	applicationNames = []string{"application", "app", "sparkapplication", "sparkapplications", "sparkapp", "sparkapps"}
	scheduleNames    = []string{"schedule", "scheduledsparkapplication", "scheduledsparkapplications", "scheduledsparkapp"}
	clusterNames     = []string{"cluster", "sparkcluster", "sparkclusters"}
)

// Kinds are all kinds, in the order of lists.
var Kinds = []Kind{
	{overview.Application, schema.GroupResource{Group: "spark.apache.org", Resource: "sparkapplications"}, apacheVersions, applicationNames},
	{overview.Application, schema.GroupResource{Group: "sparkoperator.k8s.io", Resource: "sparkapplications"}, []string{"v1beta2"}, applicationNames},
	{overview.Application, schema.GroupResource{Group: "spark-operator.k8s.io", Resource: "sparkapplications"}, []string{"v1alpha1"}, applicationNames},
	{overview.Cluster, schema.GroupResource{Group: "spark.apache.org", Resource: "sparkclusters"}, apacheVersions, clusterNames},
	{overview.Schedule, schema.GroupResource{Group: "firesteel.dev", Resource: "scheduledsparkapplications"}, []string{"v1alpha1"}, scheduleNames},
	{overview.Schedule, schema.GroupResource{Group: "sparkoperator.k8s.io", Resource: "scheduledsparkapplications"}, []string{"v1beta2"}, scheduleNames},
}

// KindsOf returns the kinds of some nouns. Without a noun, it returns all kinds.
func KindsOf(nouns ...overview.Kind) []Kind {
	if len(nouns) == 0 {
		return Kinds
	}
	return slices.DeleteFunc(slices.Clone(Kinds), func(k Kind) bool { return !slices.Contains(nouns, k.Noun) })
}

// Named reports whether kubectl knows the kind under a name, which has no group.
func (k Kind) Named(name string) bool { return slices.Contains(k.names, name) }

// Get reads an object of the kind, in the version that the API server has.
func (k Kind) Get(ctx context.Context, client dynamic.Interface, namespace, name string) (*Object, error) {
	var object *unstructured.Unstructured
	served, err := k.Served(func(resource schema.GroupVersionResource) (err error) {
		object, err = client.Resource(resource).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
		return err
	})
	return &Object{Unstructured: object, Resource: served}, err
}

// Served calls a function with the kind's resource in the version that the API server has, and returns that resource. If the API server has
// none, it returns the error of the function for the preferred version.
func (k Kind) Served(call func(schema.GroupVersionResource) error) (schema.GroupVersionResource, error) {
	var first error
	for _, version := range k.Versions {
		resource := k.WithVersion(version)
		err := call(resource)
		if !NotServed(err) {
			return resource, err
		}
		if first == nil {
			first = err
		}
	}
	return k.WithVersion(k.Versions[0]), first
}

// Pages lists the objects of a kind, in the version that the API server has, and calls a function with each page.
func (k Kind) Pages(ctx context.Context, client dynamic.Interface, namespace string, options metav1.ListOptions,
	each func(schema.GroupVersionResource, *unstructured.UnstructuredList) error,
) error {
	for {
		var page *unstructured.UnstructuredList
		served, err := k.Served(func(resource schema.GroupVersionResource) (err error) {
			page, err = client.Resource(resource).Namespace(namespace).List(ctx, options)
			return err
		})
		if err != nil {
			return err
		}
		if err := each(served, page); err != nil {
			return err
		}
		if options.Continue = page.GetContinue(); options.Continue == "" {
			return nil
		}
	}
}

// NotServed reports whether the API server does not have the kind of a request.
func NotServed(err error) bool {
	return apierrors.IsNotFound(err) && apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
}
