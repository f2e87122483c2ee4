package function

import (
	"context"

	cloudevents "github.com/cloudevents/sdk-go/v2"
	"golang.org/x/sync/singleflight"
	"k8s.io/utils/lru"

	"github.com/firesteel-dev/firesteel/pkg/events"
)

// onceCapacity is how many events Once knows.
const onceCapacity = 4096

// Once drops duplicates: events with the source and id of one of the last 4,096 that this process has handled without an
// error. It spares a chat channel most repetitions. It is no defence: another replica, and this one after a restart, know
// nothing of it. And it is wrong for a handler that is asked until the object shows the deed done, as restart, ttl and
// schedule are, since those questions are duplicates.
func Once(handler events.Handler) events.Handler {
	type key struct{ source, id string }
	done := lru.New(onceCapacity)
	var running singleflight.Group
	return func(ctx context.Context, event cloudevents.Event) error {
		k := key{source: event.Source(), id: event.ID()}
		_, err, _ := running.Do(k.source+"\n"+k.id, func() (any, error) {
			if _, known := done.Get(k); known {
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
