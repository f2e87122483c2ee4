// The verdict function is a restart policy of one's own, in the place of the handler restart: an attempt that its node or an
// eviction ended is followed by another 10 s later, and one that failed by itself is not.
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

// backoff is how long after the end of an attempt the next one starts.
const backoff = 10 * time.Second

// decide is the policy. The spec's own limits have been kept already: it is asked only where the spec allows another attempt.
func decide(end v1alpha1.Transition) v1alpha1.Verdict {
	switch end.End.Class {
	case "infrastructure", "eviction":
		next := metav1.NewMicroTime(end.Time.Add(backoff))
		return v1alpha1.Verdict{Attempt: end.Attempt, Restart: true, NotBefore: &next, Reason: "It was not the application's fault."}
	default:
		return v1alpha1.Verdict{Attempt: end.Attempt, Reason: "What ended by " + end.End.Class + " would end so again."}
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
	function.Handle(func(ctx context.Context, event cloudevents.Event) error { return judge(ctx, client, event) })
}

// versions are those in which the applications of each API are read.
var versions = map[string]string{"spark.apache.org": "v1", "sparkoperator.k8s.io": "v1beta2"}

// judge writes a verdict where the application, as it is now, awaits one. The event only says which to look at.
func judge(ctx context.Context, client dynamic.Interface, event cloudevents.Event) error {
	about, err := events.Identify(event)
	if err != nil {
		return err
	}
	version, served := versions[about.Group]
	if !served || about.Resource != "sparkapplications" {
		return nil
	}
	kind := schema.GroupVersionResource{Group: about.Group, Version: version, Resource: about.Resource}
	apps := client.Resource(kind).Namespace(about.Namespace)
	app, err := apps.Get(ctx, about.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return err
	case app.GetUID() != about.UID, app.GetDeletionTimestamp() != nil:
		return nil // another of that name, or one that is over
	}
	end, err := awaiting(app)
	if end == nil || err != nil {
		return err
	}
	// A merge patch of the verdict writes nothing else of the record, which may have fields of a newer version. The resourceVersion
	// has it written only if the application is still what was read: a conflict is an error, and the event comes again.
	verdict := decide(*end)
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"resourceVersion": app.GetResourceVersion()},
		"status": map[string]any{"firesteel": map[string]any{"verdict": map[string]any{
			// null takes away what an earlier verdict has.
			"attempt": verdict.Attempt, "restart": verdict.Restart, "notBefore": verdict.NotBefore, "reason": verdict.Reason,
		}}},
	})
	if err != nil {
		return err
	}
	_, err = apps.Patch(ctx, about.Name, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
	return err
}

// awaiting is the end of an attempt that awaits its verdict; nil where none does.
func awaiting(app *unstructured.Unstructured) (*v1alpha1.Transition, error) {
	var read struct {
		Status struct {
			Firesteel *v1alpha1.Record `json:"firesteel"`
		} `json:"status"`
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(app.Object, &read); err != nil {
		return nil, events.Permanent(fmt.Errorf("status of %s/%s: %w", app.GetNamespace(), app.GetName(), err))
	}
	record := read.Status.Firesteel
	if record == nil || len(record.Transitions) == 0 {
		return nil, nil
	}
	last := record.Transitions[len(record.Transitions)-1]
	answered := record.Verdict != nil && record.Verdict.Attempt == record.Attempt.ID
	if last.End == nil || !last.End.RestartAllowed || answered {
		return nil, nil
	}
	return &last, nil
}
