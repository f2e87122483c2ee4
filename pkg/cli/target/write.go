package target

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

	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
)

// Patch changes an object by a merge patch. It fails if another object has the name by now. With --dry-run=client it sends nothing.
func Patch(ctx context.Context, client dynamic.Interface, found *Found, dryRun cli.DryRun, change map[string]any) error {
	if dryRun == cli.DryRunClient {
		return nil
	}
	metadata, ok := change["metadata"].(map[string]any)
	if !ok {
		metadata = map[string]any{}
		change["metadata"] = metadata
	}
	metadata["uid"] = string(found.GetUID()) // the API server refuses the patch of another object
	encoded, err := json.Marshal(change)
	if err != nil {
		return fmt.Errorf("encode the patch of %s: %w", found.Reference(), err)
	}
	_, err = client.Resource(found.Resource).Namespace(found.GetNamespace()).
		Patch(ctx, found.GetName(), types.MergePatchType, encoded, metav1.PatchOptions{DryRun: dryRun.Options()})
	return err
}

// Stop sets the annotation that stops an application. Its value is the reason and the user's name. With --dry-run=client it sends nothing.
func Stop(ctx context.Context, client dynamic.Interface, found *Found, dryRun cli.DryRun, reason string) error {
	if dryRun == cli.DryRunClient {
		return nil
	}
	// The name is always there: the value false alone would stop nothing.
	value := "by " + cmp.Or(userOf(ctx, client), "an unknown user")
	if reason = strings.TrimSpace(reason); reason != "" {
		value = fmt.Sprintf("%s (%s)", reason, value)
	}
	return Patch(ctx, client, found, dryRun, map[string]any{
		"metadata": map[string]any{"annotations": map[string]any{dialect.AnnotationStop: value}},
	})
}

// Delete deletes an object. It fails if another object has the name by now. The garbage collector deletes what the object owns. If the object is
// already gone, it returns no error.
func Delete(ctx context.Context, client dynamic.Interface, found *Found, dryRun []string) error {
	uid, propagation := found.GetUID(), metav1.DeletePropagationBackground
	err := client.Resource(found.Resource).Namespace(found.GetNamespace()).Delete(ctx, found.GetName(), metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &uid}, PropagationPolicy: &propagation, DryRun: dryRun,
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
