package function

import (
	"context"

	cloudevents "github.com/cloudevents/sdk-go/v2"
	"golang.org/x/sync/singleflight"
	"k8s.io/utils/lru"

	"github.com/firesteel-dev/firesteel/pkg/events"
)

// onceCapacity is the number of events that Once remembers.
const onceCapacity = 4096

// Once drops duplicates. A duplicate has the source and the id of one of the last 4,096 events that this process has handled
// without an error. So a chat channel, for example, gets few repetitions.
//
// Once does not prevent all duplicates: other replicas, and this process after a restart, do not know the handled events. Do not
// use it for a handler that Firesteel requests until the object shows the result, like restart, ttl and schedule. Those requests
// are duplicates.
func Once(handler events.Handler) events.Handler {
	type key struct{ source, id string }
	done := lru.New(onceCapacity)
	var running singleflight.Group
	return func(ctx context.Context, event cloudevents.Event) error {
		k := key{source: event.Source(), id: event.ID()}
		_, err, _ := running.Do(k.source+"\n"+k.id, func() (any, error) {
			if _, ok := done.Get(k); ok {
				return nil, nil
			}
			if err := handler(ctx, event); err != nil {
				return nil, err
			}
			done.Add(k, nil)
			return nil, nil
		})
		return err
	}
}
