// The follow-up function is a pipeline that uses only events. When an application has succeeded, it creates another application from a
// manifest. Its Trigger selects the final events. The name of the new application is made from the event's id, so that a repeated
// event creates no second one.
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

// manifest is the file with the application to create, from a ConfigMap.
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
		return result(follow(ctx, client, next, event))
	})
}

// follow creates the next application, once for each event.
func follow(ctx context.Context, client versioned.Interface, next sparkv1.SparkApplication, event cloudevents.Event) error {
	namespace, _ := event.Extensions()["sparknamespace"].(string)
	name, _ := event.Extensions()["sparkname"].(string)
	apps := client.SparkV1().SparkApplications(namespace)
	// Anyone may send an event, so check the application itself.
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

// digest returns a short hash of the event's identity, which is its source and its id.
func digest(event cloudevents.Event) string {
	sum := sha256.Sum256([]byte(event.Source() + " " + event.ID()))
	return hex.EncodeToString(sum[:4])
}

// result tells the broker to send the event again after an error that may pass.
func result(err error) cloudevents.Result {
	switch {
	case err == nil:
		return cloudevents.ResultACK
	case apierrors.IsInvalid(err), apierrors.IsForbidden(err), apierrors.IsBadRequest(err):
		return cloudevents.NewHTTPResult(http.StatusBadRequest, "%w", err)
	default:
		return cloudevents.NewHTTPResult(http.StatusInternalServerError, "%w", err)
	}
}
