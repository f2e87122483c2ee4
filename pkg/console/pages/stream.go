package pages

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/firesteel-dev/firesteel/pkg/access"
	"github.com/firesteel-dev/firesteel/pkg/console/live"
)

const (
	// streamPing is how often a stream has an event although nothing changes, so that no proxy closes it and the page knows that it is connected, and how
	// often session and rights are checked.
	streamPing = 20 * time.Second
	// streamWrite bounds how long a client may take to accept an event.
	streamWrite = 10 * time.Second
	// streamPace is the least time between two events: the first change is sent at once, and a crowd of them together. A change is on the screen within
	// 500 ms, of which others are gathered for 100 ms, and the page is loaded.
	streamPace = 250 * time.Millisecond
	// streamEnd bounds a stream. The browser then opens the next one.
	streamEnd = 30 * time.Minute
)

// narrowed returns the parameters of a stream of the changes of one object.
func narrowed(ref live.Ref) url.Values {
	return url.Values{"namespace": {ref.Namespace}, "resource": {ref.Resource}, "name": {ref.Name}}
}

// The events of a stream. The page asks for itself again after eventChanged. eventOver is the last one: the session is over.
const (
	eventPing    = "event: ping\ndata: \n\n"
	eventChanged = "event: changed\n%sdata: \n\n"
	eventOver    = "event: over\ndata: \n\n"
)

// stream sends an event after each change that the viewer may see. The page then asks for itself again: so what is shown has one way of being made.
func (s *Server) stream(v *view) error {
	parameters := v.URL.Query()
	text := parameters.Get("cursor")
	if last := v.Header.Get("Last-Event-ID"); last != "" {
		text = last
	}
	cursor, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return &live.ParameterError{Parameter: "cursor", Value: text, Remedy: "write the number that the page has"}
	}
	only := live.Ref{Namespace: parameters.Get("namespace"), Resource: parameters.Get("resource"), Name: parameters.Get("name")}
	header := v.w.Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("Cache-Control", "no-store")
	header.Set("X-Accel-Buffering", "no") // nginx would hold events back
	timed, cancel := context.WithTimeout(v.Context(), streamEnd)
	defer cancel()
	group, ctx := errgroup.WithContext(timed)
	e := &events{w: v.w, controller: http.NewResponseController(v.w)}
	if err := e.controller.SetReadDeadline(time.Time{}); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err // the deadline of a request would end the stream
	}
	group.Go(func() error { return s.ping(ctx, v, only, e) })
	group.Go(func() error {
		return s.options.Source.Follow(ctx, v.viewer.Visible, cursor, func(changes live.Changes) error {
			if !changes.Missed && only.Name != "" && len(changes.Items) > 0 && !slices.ContainsFunc(changes.Items, func(c *live.Change) bool { return c.Ref == only }) {
				return nil
			}
			if err := e.send(fmt.Sprintf(eventChanged, fmt.Sprintf("id: %d\n", changes.Cursor))); err != nil {
				return err
			}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-s.options.Clock.After(streamPace):
				return nil
			}
		})
	})
	err = group.Wait()
	if errors.Is(err, access.ErrUnauthenticated) || errors.Is(context.Cause(v.Context()), access.ErrUnauthenticated) {
		_ = e.send(eventOver) // the client has left
	}
	return nil // otherwise the client has left, or the stream has had its time: the browser opens the next one
}

// rights are those to the object of a page.
type rights struct{ get, pods bool }

// rightsTo returns the rights of the viewer to an object; none if there is no object.
func (v *view) rightsTo(ref live.Ref) (rights, error) {
	if ref.Name == "" {
		return rights{}, nil
	}
	pods, err := v.mayGet(ref)
	if errors.Is(err, errNotFound) {
		return rights{}, nil
	}
	return rights{err == nil, pods}, err
}

// ping keeps a quiet stream open while the session lasts. If the rights to the object of the page change, or once all was read, the page is asked for again.
func (s *Server) ping(ctx context.Context, v *view, only live.Ref, e *events) error {
	before, err := v.rightsTo(only)
	if err != nil {
		return err
	}
	synced := s.options.Source.HasSynced()
	for {
		if err := e.send(eventPing); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-s.options.Clock.After(streamPing):
		}
		if err := v.viewer.Check(ctx); err != nil {
			return err
		}
		now, err := v.rightsTo(only)
		if err != nil {
			return err
		}
		if all := s.options.Source.HasSynced(); now != before || all != synced {
			before, synced = now, all
			if err := e.send(fmt.Sprintf(eventChanged, "")); err != nil {
				return err
			}
		}
	}
}

// events writes server-sent events.
type events struct {
	mutex      sync.Mutex
	w          http.ResponseWriter
	controller *http.ResponseController
}

func (e *events) send(text string) error {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if err := e.controller.SetWriteDeadline(time.Now().Add(streamWrite)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	if _, err := fmt.Fprint(e.w, text); err != nil {
		return err
	}
	return e.controller.Flush()
}
