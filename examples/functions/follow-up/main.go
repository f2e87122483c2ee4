// The follow-up function makes a pipeline of events alone: when an application has truly ended, as its Trigger filters, it
// creates the application of a manifest. The name comes from the event's id: however often the event comes, there is one.
package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log"
	"net/http"
	"os"

	cloudevents "github.com/cloudevents/sdk-go/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"knative.dev/pkg/signals"
	"sigs.k8s.io/yaml"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/client/clientset/versioned"
)

func main() {
	if err := run(signals.NewContext()); err != nil {
		log.Fatal(err)
	}
}

// manifest is the application to create, from a ConfigMap.
const manifest = "/etc/follow-up/application.yaml"

func run(ctx context.Context) error {
	text, err := os.ReadFile(manifest)
	if err != nil {
		return err
	}
	var next sparkv1.SparkApplication
	if err := yaml.UnmarshalStrict(text, &next); err != nil {
		return fmt.Errorf("%s: %w", manifest, err)
	}
	config, err := rest.InClusterConfig()
	if err != nil {
		return err
	}
	client, err := versioned.NewForConfig(config)
	if err != nil {
		return err
	}
	receiver, err := cloudevents.NewClientHTTP(cloudevents.WithPort(8080))
	if err != nil {
		return err
	}
	return receiver.StartReceiver(ctx, func(ctx context.Context, event cloudevents.Event) cloudevents.Result {
		return answer(follow(ctx, client, next, event))
	})
}

// follow creates the next application, once for each event.
func follow(ctx context.Context, client versioned.Interface, next sparkv1.SparkApplication, event cloudevents.Event) error {
	namespace, _ := event.Extensions()["sparknamespace"].(string)
	name, _ := event.Extensions()["sparkname"].(string)
	apps := client.SparkV1().SparkApplications(namespace)
	// Anybody may send an event: the application itself says whether it is so.
	ended, err := apps.Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) || err == nil && !succeeded(ended) {
		return nil
	}
	if err != nil {
		return err
	}
	created := next.DeepCopy()
	created.Name, created.Namespace = next.Name+"-"+digest(event), namespace
	_, err = apps.Create(ctx, created, metav1.CreateOptions{})
	switch {
	case apierrors.IsAlreadyExists(err):
		return nil
	case err == nil:
		fmt.Printf("%s/%s has succeeded: created %s\n", namespace, name, created.Name)
	}
	return err
}

func succeeded(app *sparkv1.SparkApplication) bool {
	for _, condition := range app.Status.Conditions {
		if condition.Type == "Succeeded" {
			return condition.Status == metav1.ConditionTrue
		}
	}
	return false
}

// digest stands for the event: source and id together are its identity.
func digest(event cloudevents.Event) string {
	sum := sha256.Sum256([]byte(event.Source() + " " + event.ID()))
	return hex.EncodeToString(sum[:4])
}

// answer has the broker send the event again after what may pass.
func answer(err error) cloudevents.Result {
	switch {
	case err == nil:
		return cloudevents.ResultACK
	case apierrors.IsInvalid(err), apierrors.IsForbidden(err), apierrors.IsBadRequest(err):
		return cloudevents.NewHTTPResult(http.StatusBadRequest, "%w", err)
	default:
		return cloudevents.NewHTTPResult(http.StatusInternalServerError, "%w", err)
	}
}
