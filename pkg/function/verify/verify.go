// Package verify checks whether an event is true, by reading the object that it is about.
package verify

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"time"

	cloudevents "github.com/cloudevents/sdk-go/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/events"
)

// Verifier reads objects from an API server.
type Verifier struct {
	server *url.URL
	client *http.Client
}

// New creates a verifier for a cluster, such as that of rest.InClusterConfig. The service account needs the verb get for the kinds of
// the events' objects.
func New(cluster *rest.Config) (*Verifier, error) {
	server, _, err := rest.DefaultServerUrlFor(cluster)
	if err != nil {
		return nil, fmt.Errorf("address of the API server: %w", err)
	}
	client, err := rest.HTTPClientFor(cluster)
	if err != nil {
		return nil, fmt.Errorf("create client: %w", err)
	}
	client.Timeout = 10 * time.Second
	return &Verifier{server: server, client: client}, nil
}

// apiVersions holds the API version in which the objects of each group are read.
var apiVersions = map[string]string{
	"spark.apache.org": "v1", "sparkoperator.k8s.io": "v1beta2", "spark-operator.k8s.io": "v1alpha1", "firesteel.dev": "v1alpha1", "": "v1",
}

// object holds the fields of an application, a cluster or a schedule that events are compared with.
type object struct {
	Kind     string `json:"kind"`
	Metadata struct {
		UID types.UID `json:"uid"`
	} `json:"metadata"`
	Status struct {
		Firesteel *v1alpha1.Record `json:"firesteel"`
	} `json:"status"`
}

// Holds reads the object of an event and reports whether the event is true. The object must have the uid of the event's source.
//
// A transition's event is true if the object's record holds the transition, with the same attributes and data. A record holds about
// the last 64 transitions. A clock event is true from its instant on. Holds does not check whether its work is already done.
//
// Holds returns a Permanent error for an event that is not in Firesteel's form.
func (v *Verifier) Holds(ctx context.Context, event cloudevents.Event) (bool, error) {
	subject, err := events.Identify(event)
	if err != nil {
		return false, err
	}
	version, ok := apiVersions[subject.Group]
	if !ok {
		return false, nil
	}
	found, err := v.read(ctx, subject, version)
	switch {
	case apierrors.IsNotFound(err):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("read %s %s: %w", subject.Resource, subject.Key(), err)
	case found.Metadata.UID != subject.UID, found.Kind != subject.Kind:
		return false, nil
	}
	if eventType, ok := events.TypeByName(event.Type()); !ok {
		return false, nil
	} else if eventType.Clock() {
		return clockEventHolds(event)
	}
	return found.hasTransition(subject, event)
}

func clockEventHolds(event cloudevents.Event) (bool, error) {
	clock, err := events.DecodeClock(event)
	return err == nil && clock.Due.Equal(event.Time()) && !clock.Due.After(time.Now()), err
}

// hasTransition reports whether the object's record holds the transition of an event.
func (o object) hasTransition(subject events.Object, event cloudevents.Event) (bool, error) {
	data, err := events.DecodeTransition(event)
	if err != nil || o.Status.Firesteel == nil {
		return false, err
	}
	for _, transition := range o.Status.Firesteel.Transitions {
		if transition.Sequence != data.Sequence {
			continue
		}
		want, err := events.NewTransitionEvent(subject, transition)
		if err != nil {
			return false, fmt.Errorf("event of transition %d: %w", data.Sequence, err)
		}
		wantData, err := events.DecodeTransition(want)
		return event.ID() == want.ID() && event.Type() == want.Type() && sameExtensions(event, want) && reflect.DeepEqual(data, wantData), err
	}
	return false, nil
}

// sameExtensions reports whether an event has all extensions of another. It may have more, since a broker adds its own.
func sameExtensions(event, want cloudevents.Event) bool {
	for name, value := range want.Extensions() {
		if event.Extensions()[name] != value {
			return false
		}
	}
	return true
}

func (v *Verifier) read(ctx context.Context, subject events.Object, version string) (found object, err error) {
	address := v.server.JoinPath("apis", subject.Group, version, "namespaces", subject.Namespace, subject.Resource, subject.Name)
	if subject.IsNamespace() {
		address = v.server.JoinPath("api", version, "namespaces", subject.Name)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address.String(), http.NoBody)
	if err != nil {
		return found, err
	}
	response, err := v.client.Do(request)
	if err != nil {
		return found, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return found, err
	}
	if response.StatusCode != http.StatusOK {
		resource := schema.GroupResource{Group: subject.Group, Resource: subject.Resource}
		return found, apierrors.NewGenericServerResponse(response.StatusCode, "get", resource, subject.Name, "", 0, false)
	}
	return found, json.Unmarshal(body, &found)
}
