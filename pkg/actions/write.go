package actions

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/firesteel-dev/firesteel/pkg/dialect"
)

// WriteOptions are the options of a request that changes something.
type WriteOptions struct {
	// DryRun is that of the request.
	DryRun []string
	// Unchanged makes the request fail if anything of the object has changed since it was read. Without it, it fails only if another object
	// has the name.
	Unchanged bool
}

// Patch changes an object by a merge patch. It fails if another object has the name by now.
func Patch(ctx context.Context, client dynamic.Interface, object *Object, options WriteOptions, change map[string]any) error {
	metadata, ok := change["metadata"].(map[string]any)
	if !ok {
		metadata = map[string]any{}
		change["metadata"] = metadata
	}
	metadata["uid"] = string(object.GetUID()) // the API server refuses the patch of another object
	if options.Unchanged {
		metadata["resourceVersion"] = object.GetResourceVersion()
	}
	encoded, err := json.Marshal(change)
	if err != nil {
		return fmt.Errorf("encode the patch of %s: %w", object.Reference(), err)
	}
	_, err = client.Resource(object.Resource).Namespace(object.GetNamespace()).
		Patch(ctx, object.GetName(), types.MergePatchType, encoded, metav1.PatchOptions{DryRun: options.DryRun})
	return err
}

// SetStop sets the annotation that stops an application. Its value is the reason and the user's name.
func SetStop(ctx context.Context, client dynamic.Interface, object *Object, options WriteOptions, reason string) error {
	// The name is always there: the value false alone would stop nothing.
	value := "by " + cmp.Or(userOf(ctx, client), "an unknown user")
	if reason = strings.TrimSpace(reason); reason != "" {
		value = fmt.Sprintf("%s (%s)", reason, value)
	}
	return Patch(ctx, client, object, options, map[string]any{
		"metadata": map[string]any{"annotations": map[string]any{dialect.AnnotationStop: value}},
	})
}

// Delete deletes an object. It fails if another object has the name by now. The garbage collector deletes what the object owns. If the object is
// already gone, it returns no error.
func Delete(ctx context.Context, client dynamic.Interface, object *Object, options WriteOptions) error {
	uid, propagation := object.GetUID(), metav1.DeletePropagationBackground
	preconditions := metav1.Preconditions{UID: &uid}
	if options.Unchanged {
		version := object.GetResourceVersion()
		preconditions.ResourceVersion = &version
	}
	err := client.Resource(object.Resource).Namespace(object.GetNamespace()).Delete(ctx, object.GetName(), metav1.DeleteOptions{
		Preconditions: &preconditions, PropagationPolicy: &propagation, DryRun: options.DryRun,
	})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// userOf returns the name of the user of the connection; empty if the API server does not return it. The name is only for people.
func userOf(ctx context.Context, client dynamic.Interface) string {
	reviews := schema.GroupVersionResource{Group: "authentication.k8s.io", Version: "v1", Resource: "selfsubjectreviews"}
	review := &unstructured.Unstructured{Object: map[string]any{"apiVersion": reviews.GroupVersion().String(), "kind": "SelfSubjectReview"}}
	answer, err := client.Resource(reviews).Create(ctx, review, metav1.CreateOptions{})
	if err != nil {
		return ""
	}
	user, _, _ := unstructured.NestedString(answer.Object, "status", "userInfo", "username") // the API server's own type
	return user
}
