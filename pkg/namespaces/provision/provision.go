// Package provision creates the objects of a namespace. It changes and deletes none: what exists stays as it is.
package provision

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/firesteel-dev/firesteel/pkg/namespaces"
)

// Outcome is what was done with an object.
type Outcome string

// The outcomes.
const (
	// Created means that the object did not exist.
	Created Outcome = "created"
	// Exists means that Firesteel had created an object with the name. It was not changed.
	Exists Outcome = "exists"
	// Left means that another owner has an object with the name. It was not changed.
	Left Outcome = "left as it is"
)

// Result is an object as the API server has it, and what was done with it.
type Result struct {
	Object  *unstructured.Unstructured
	Outcome Outcome
}

// String describes the result in a line. A line about an object of another owner names the remedy.
func (r Result) String() string {
	text := fmt.Sprintf("%s %s: %s", r.Object.GetKind(), path(r.Object), r.Outcome)
	switch {
	case r.Outcome != Left:
	case r.Object.GetKind() == "Namespace":
		text += ", without the labels of the template"
	default:
		text += fmt.Sprintf(", since it has no label %s=%s; delete it, or rename it, to get the one of the template",
			namespaces.LabelOwner, namespaces.Owner)
	}
	return text
}

func path(object *unstructured.Unstructured) string {
	if object.GetNamespace() == "" {
		return object.GetName()
	}
	return object.GetNamespace() + "/" + object.GetName()
}

// resources are the resources of the kinds that a namespace gets.
var resources = map[schema.GroupVersionKind]string{
	corev1.SchemeGroupVersion.WithKind("Namespace"):           "namespaces",
	corev1.SchemeGroupVersion.WithKind("ServiceAccount"):      "serviceaccounts",
	corev1.SchemeGroupVersion.WithKind("ResourceQuota"):       "resourcequotas",
	corev1.SchemeGroupVersion.WithKind("LimitRange"):          "limitranges",
	networkingv1.SchemeGroupVersion.WithKind("NetworkPolicy"): "networkpolicies",
	rbacv1.SchemeGroupVersion.WithKind("RoleBinding"):         "rolebindings",
}

// Create creates objects that do not exist, one after the other. It calls report with the result of each before it goes on. After an error,
// of report or of a request, it creates the others but the last one, whose existence says that all is done.
func Create(ctx context.Context, client dynamic.Interface, report func(Result) error, objects ...namespaces.Object) error {
	var errs []error
	for i, object := range objects {
		if i == len(objects)-1 && len(errs) > 0 {
			break
		}
		result, err := create(ctx, client, object)
		if err == nil {
			err = report(result)
		}
		if err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func create(ctx context.Context, client dynamic.Interface, object namespaces.Object) (Result, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return Result{}, fmt.Errorf("encode %T: %w", object, err)
	}
	wanted := &unstructured.Unstructured{Object: content}
	delete(wanted.Object, "status")
	kind := wanted.GroupVersionKind()
	resource := client.Resource(kind.GroupVersion().WithResource(resources[kind])).Namespace(wanted.GetNamespace())
	created, err := resource.Create(ctx, wanted, metav1.CreateOptions{})
	switch {
	case err == nil:
		return Result{created, Created}, nil
	case !apierrors.IsAlreadyExists(err):
		return Result{}, fmt.Errorf("create %s %s: %w", kind.Kind, path(wanted), err)
	}
	existing, err := resource.Get(ctx, wanted.GetName(), metav1.GetOptions{})
	switch {
	case err != nil:
		return Result{}, fmt.Errorf("read %s %s, which exists: %w", kind.Kind, path(wanted), err)
	case namespaces.Owned(existing):
		return Result{existing, Exists}, nil
	default:
		return Result{existing, Left}, nil
	}
}
