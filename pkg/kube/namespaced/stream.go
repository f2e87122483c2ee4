package namespaced

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
)

// shortest is how long a watch lasts at least. One that ends earlier and brings nothing is not begun again at once.
const shortest = time.Second

var errTooShort = errors.New("it ended at once")

// refusalRetries returns the times after which a namespace that refuses is asked again: soon, since its rights may be on their way, and
// later every 30 s.
func refusalRetries() wait.Backoff {
	return wait.Backoff{Duration: time.Second, Factor: 2, Jitter: 0.1, Steps: 10, Cap: 30 * time.Second}
}

// stream is the watch of one namespace, as part of the merged one: one request after the other.
type stream struct {
	*merged
	namespace string
	// options are those of the next request.
	options metav1.ListOptions
	client  func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error)
	// probe asks a namespace that refused before anything of it was read.
	probe func(ctx context.Context) error

	// current is the running watch; nil if the namespace refuses.
	current watch.Interface
	// at is the resource version that was reached. known reports whether the informer has what existed then.
	at    string
	known bool
	// initial reports whether initial events are still to come.
	initial bool
}

// begin sends a request.
func (s *stream) begin() error {
	options := s.options
	options.TimeoutSeconds = jittered(options.TimeoutSeconds)
	current, err := s.client(s.ctx, options)
	if err == nil {
		s.current = current
	}
	return err
}

// jittered returns a longer time, so that the watches of all namespaces do not end together.
func jittered(seconds *int64) *int64 {
	if seconds == nil || *seconds <= 0 {
		return seconds
	}
	longer := *seconds + rand.Int64N(*seconds)
	return &longer
}

// stop ends the current watch.
func (s *stream) stop() {
	if s.current != nil {
		s.current.Stop()
		s.current = nil
	}
}

// run passes on the events of the namespace until the merged watch ends.
func (s *stream) run() {
	defer s.stop() // it may have ended between two watches
	if s.current == nil && !s.known {
		s.awaitRights()
		return
	}
	for s.ctx.Err() == nil {
		if s.current != nil {
			began := time.Now()
			brought, err := s.pass()
			if s.ctx.Err() != nil {
				return
			}
			if err == nil && !brought && time.Since(began) < shortest {
				err = errTooShort
			}
			if err != nil {
				s.expire(s.namespace, err)
				return
			}
		}
		if err := s.resume(); err != nil {
			s.expire(s.namespace, err)
			return
		}
	}
}

// pass passes on the events of the current watch until it ends. brought reports whether there were any.
func (s *stream) pass() (brought bool, _ error) {
	defer s.stop()
	for {
		select {
		case <-s.ctx.Done():
			return brought, nil
		case event, ok := <-s.current.ResultChan():
			switch {
			case !ok && s.initial: // the informer begins anew, as if the API server had ended its watch
				s.cancel()
				return brought, nil
			case !ok:
				return brought, nil
			case event.Type == watch.Error && s.initial:
				s.fail(event.Object)
				return brought, nil
			case event.Type == watch.Error:
				return brought, apierrors.FromObject(event.Object)
			}
			brought = true
			s.handle(event)
		}
	}
}

// handle passes on an event. Bookmarks only show how far this namespace is.
func (s *stream) handle(event watch.Event) {
	accessor, err := meta.Accessor(event.Object)
	if err != nil {
		s.send(event) // the informer reports it
		return
	}
	s.at = accessor.GetResourceVersion()
	switch {
	case event.Type != watch.Bookmark:
		s.send(event)
	case s.initial && accessor.GetAnnotations()[metav1.InitialEventsAnnotationKey] == "true":
		s.initial = false
		s.initialEnded(s.at)
	}
}

// resume goes on where the last watch ended. While the namespace refuses, the informer keeps what it knows.
func (s *stream) resume() error {
	if s.ctx.Err() != nil {
		return nil
	}
	if s.at == "" {
		return errors.New("it has no resource version to go on from")
	}
	s.options.ResourceVersion, s.options.ResourceVersionMatch, s.options.SendInitialEvents = s.at, "", nil
	err := s.begin()
	if apierrors.IsForbidden(err) {
		err = s.retry(err, func(context.Context) error { return s.begin() })
	}
	if s.ctx.Err() != nil {
		return nil
	}
	return err
}

// awaitRights waits until a namespace can be read that refused at first. Until then it is empty.
func (s *stream) awaitRights() {
	if s.initial {
		s.initialEnded("")
	}
	err := s.probe(s.ctx)
	for err != nil && s.ctx.Err() == nil {
		err = s.retry(err, s.probe)
	}
	if err == nil {
		s.namespaces.allow(s.ctx, s.namespace)
		<-s.ctx.Done()
	}
}

// retry repeats a request from time to time while it is forbidden, and returns its last error.
func (s *stream) retry(err error, request func(context.Context) error) error {
	defer s.namespaces.refused(s.namespace, err)()
	retries := refusalRetries()
	for apierrors.IsForbidden(err) {
		select {
		case <-s.ctx.Done():
			return err
		case <-time.After(retries.Step()):
			err = request(s.ctx)
		}
	}
	return err
}

// probeWatch begins the watch of a namespace, and ends it.
func (s *stream) probeWatch(ctx context.Context) error {
	seconds := int64(1)
	tried, err := s.client(ctx, metav1.ListOptions{
		LabelSelector: s.options.LabelSelector, FieldSelector: s.options.FieldSelector, TimeoutSeconds: &seconds,
	})
	if err == nil {
		tried.Stop()
	}
	return err
}
