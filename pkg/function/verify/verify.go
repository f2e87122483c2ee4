// Package verify tells whether an event is true, by the object that it is about.
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

// New makes a verifier of a cluster, such as rest.InClusterConfig has it. Its service account needs the verb get on the
// kinds that events are about.
func New(cluster *rest.Config) (*Verifier, error) {
	server, _, err := rest.DefaultServerUrlFor(cluster)
	if err != nil {
		return nil, fmt.Errorf("address of the API server: %w", err)
	}
	client, err := rest.HTTPClientFor(cluster)
	if err != nil {
		return nil, fmt.Errorf("make client: %w", err)
	}
	client.Timeout = 10 * time.Second
	return &Verifier{server: server, client: client}, nil
}

// versions are those in which the objects of each group are read.
var versions = map[string]string{"spark.apache.org": "v1", "sparkoperator.k8s.io": "v1beta2", "firesteel.dev": "v1alpha1"}

// object is what there is to check of an application, a cluster or a schedule.
type object struct {
	Kind     string `json:"kind"`
	Metadata struct {
		UID types.UID `json:"uid"`
	} `json:"metadata"`
	Status struct {
		Firesteel *v1alpha1.Record `json:"firesteel"`
	} `json:"status"`
}

// Holds says whether an event is true of its object, which it reads anew. A transition is true where the record of this
// very incarnation has it, and would have it told with the same attributes and data. It keeps the
// last 64. A clock event is true of
// an incarnation that is there, from its instant on; whether the deed is still to be done, the handler knows.
//
// An event that does not have the shape of Firesteel's is a Permanent error.
func (v *Verifier) Holds(ctx context.Context, event cloudevents.Event) (bool, error) {
	about, err := events.Identify(event)
	if err != nil {
		return false, err
	}
	version, served := versions[about.Group]
	if !served {
		return false, nil
	}
	found, err := v.read(ctx, about, version)
	switch {
	case apierrors.IsNotFound(err):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("read %s %s: %w", about.Resource, about.Key(), err)
	case found.Metadata.UID != about.UID, found.Kind != about.Kind:
		return false, nil
	}
	if kind, known := events.TypeByName(event.Type()); !known {
		return false, nil
	} else if kind.Clock() {
		return clockHolds(event)
	}
	return found.has(about, event)
}

func clockHolds(event cloudevents.Event) (bool, error) {
	clock, err := events.DecodeClock(event)
	return err == nil && clock.Due.Equal(event.Time()) && !clock.Due.After(time.Now()), err
}

// has compares what is told with what the record would tell.
func (o object) has(about events.Object, event cloudevents.Event) (bool, error) {
	told, err := events.DecodeTransition(event)
	if err != nil || o.Status.Firesteel == nil {
		return false, err
	}
	for _, transition := range o.Status.Firesteel.Transitions {
		if transition.Sequence != told.Sequence {
			continue
		}
		want, err := events.NewTransitionEvent(about, transition)
		if err != nil {
			return false, fmt.Errorf("event of transition %d: %w", told.Sequence, err)
		}
		truth, err := events.DecodeTransition(want)
		return event.ID() == want.ID() && event.Type() == want.Type() && sameExtensions(event, want) && reflect.DeepEqual(told, truth), err
	}
	return false, nil
}

// sameExtensions says that all extensions are as they should be. There may be more: a broker adds its own.
func sameExtensions(event, want cloudevents.Event) bool {
	for name, value := range want.Extensions() {
		if event.Extensions()[name] != value {
			return false
		}
	}
	return true
}

func (v *Verifier) read(ctx context.Context, about events.Object, version string) (found object, err error) {
	address := v.server.JoinPath("apis", about.Group, version, "namespaces", about.Namespace, about.Resource, about.Name)
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
		resource := schema.GroupResource{Group: about.Group, Resource: about.Resource}
		return found, apierrors.NewGenericServerResponse(response.StatusCode, "get", resource, about.Name, "", 0, false)
	}
	return found, json.Unmarshal(body, &found)
}
