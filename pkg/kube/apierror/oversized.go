package apierror

import (
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Oversized returns the error with which the API server refuses an object whose annotations are too long; nil if they are not.
// Ask it before a write: the API server looks at each annotation before it refuses them all, which can take it a minute.
func Oversized(kind string, object metav1.Object) error {
	err := oversized(object.GetAnnotations(), field.NewPath("metadata", "annotations"))
	if set, ok := object.(*appsv1.StatefulSet); ok && err == nil {
		err = oversized(set.Spec.Template.Annotations, field.NewPath("spec", "template", "metadata", "annotations"))
	}
	if err == nil {
		return nil
	}
	return apierrors.NewInvalid(schema.GroupKind{Kind: kind}, object.GetName(), field.ErrorList{err})
}

func oversized(annotations map[string]string, path *field.Path) *field.Error {
	if validation.ValidateAnnotationsSize(annotations) == nil {
		return nil
	}
	return field.TooLong(path, "", validation.TotalAnnotationSizeLimitB)
}
