// The verdict function is an example of your own restart policy. It replaces the restart handler. If an attempt ended because of its node
// or an eviction, another one starts 10 s later. If the application itself failed, none does.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"time"

	cloudevents "github.com/cloudevents/sdk-go/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/events"
	"github.com/firesteel-dev/firesteel/pkg/function"
)

// backoff is the time from the end of an attempt to the start of the next one.
const backoff = 10 * time.Second

// decide is the policy. It is called only if the spec allows another attempt, so the spec's own limits are checked already.
func decide(end v1alpha1.Transition) v1alpha1.Verdict {
	switch end.End.Class {
	case "infrastructure", "eviction":
		next := metav1.NewMicroTime(end.Time.Add(backoff))
		return v1alpha1.Verdict{Attempt: end.Attempt, Restart: true, NotBefore: &next, Reason: "The application did not cause the failure."}
	default:
		return v1alpha1.Verdict{Attempt: end.Attempt, Reason: "Another attempt would fail again with class " + end.End.Class + "."}
	}
}

func main() {
	cluster, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(
		clientcmd.NewDefaultClientConfigLoadingRules(), nil).ClientConfig()
	if err != nil {
		log.Fatal(err)
	}
	client, err := dynamic.NewForConfig(cluster)
	if err != nil {
		log.Fatal(err)
	}
	function.Handle(func(ctx context.Context, event cloudevents.Event) error { return giveVerdict(ctx, client, event) })
}

// versions holds the version in which the applications of each API are read.
var versions = map[string]string{"spark.apache.org": "v1", "sparkoperator.k8s.io": "v1beta2"}

// giveVerdict writes a verdict if the application waits for one. It uses only the event's source, and reads the application again.
func giveVerdict(ctx context.Context, client dynamic.Interface, event cloudevents.Event) error {
	object, err := events.Identify(event)
	if err != nil {
		return err
	}
	version, ok := versions[object.Group]
	if !ok || object.Resource != "sparkapplications" {
		return nil
	}
	resource := schema.GroupVersionResource{Group: object.Group, Version: version, Resource: object.Resource}
	apps := client.Resource(resource).Namespace(object.Namespace)
	app, err := apps.Get(ctx, object.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return err
	case app.GetUID() != object.UID, app.GetDeletionTimestamp() != nil:
		return nil // another application with the same name, or one that is being deleted
	}
	end, err := pendingEnd(app)
	if end == nil || err != nil {
		return err
	}
	// The merge patch writes only the verdict, since the record may have fields of a newer version. With the resourceVersion, the patch
	// fails if the application has changed meanwhile. That error makes the broker send the event again.
	verdict := decide(*end)
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"resourceVersion": app.GetResourceVersion()},
		"status": map[string]any{"firesteel": map[string]any{"verdict": map[string]any{
			// null removes the field of an earlier verdict.
			"attempt": verdict.Attempt, "restart": verdict.Restart, "notBefore": verdict.NotBefore, "reason": verdict.Reason,
		}}},
	})
	if err != nil {
		return err
	}
	_, err = apps.Patch(ctx, object.Name, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
	return err
}

// pendingEnd returns the end of the attempt that waits for a verdict. It returns nil if there is none.
func pendingEnd(app *unstructured.Unstructured) (*v1alpha1.Transition, error) {
	var decoded struct {
		Status struct {
			Firesteel *v1alpha1.Record `json:"firesteel"`
		} `json:"status"`
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(app.Object, &decoded); err != nil {
		return nil, events.Permanent(fmt.Errorf("status of %s/%s: %w", app.GetNamespace(), app.GetName(), err))
	}
	record := decoded.Status.Firesteel
	if record == nil || len(record.Transitions) == 0 {
		return nil, nil
	}
	last := record.Transitions[len(record.Transitions)-1]
	hasVerdict := record.Verdict != nil && record.Verdict.Attempt == record.Attempt.ID
	if last.End == nil || !last.End.RestartAllowed || hasVerdict {
		return nil, nil
	}
	return &last, nil
}
