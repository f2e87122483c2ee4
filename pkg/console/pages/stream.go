package pages

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/firesteel-dev/firesteel/pkg/console/live"
)

const (
	// streamPing is how often a stream without events has a comment, so that no proxy closes it, and how often the session is checked.
	streamPing = 20 * time.Second
	// streamWrite bounds how long a client may take to accept an event.
	streamWrite = 10 * time.Second
	// streamEnd bounds a stream. The browser then opens the next one.
	streamEnd = 30 * time.Minute
)

// narrowed returns the parameters of a stream of the changes of one object.
func narrowed(ref live.Ref) url.Values {
	return url.Values{"namespace": {ref.Namespace}, "resource": {ref.Resource}, "name": {ref.Name}}
}

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
	ctx, cancel := context.WithTimeout(v.Context(), streamEnd)
	defer cancel()
	e := &events{w: v.w, controller: http.NewResponseController(v.w)}
	if err := e.send(": open\n\n"); err != nil {
		return nil // the client has left
	}
	stale := s.options.Source.StaleSince()
	for ctx.Err() == nil {
		waiting, stop := context.WithTimeout(ctx, streamPing)
		changes, err := s.options.Source.Changes(waiting, v.see, cursor)
		quiet := err != nil && waiting.Err() != nil
		stop()
		if err != nil && !quiet {
			return nil // the source ends
		}
		if quiet {
			if err := s.renew(ctx, v); err != nil {
				return nil // the session is over
			}
			if e.send(": ping\n\n") != nil {
				return nil
			}
			continue
		}
		cursor = changes.Cursor
		concerns := changes.Missed || only.Name == "" || slices.ContainsFunc(changes.Items, func(c *live.Change) bool { return c.Ref == only })
		if now := s.options.Source.StaleSince(); now != stale {
			stale, concerns = now, true
		}
		if concerns && e.send(fmt.Sprintf("event: changed\nid: %d\ndata: \n\n", cursor)) != nil {
			return nil
		}
	}
	return nil
}

// renew checks the session, and what the viewer may see.
func (s *Server) renew(ctx context.Context, v *view) (err error) {
	if err := v.viewer.Check(ctx); err != nil {
		return err
	}
	v.see, err = v.viewer.Visible(ctx)
	return err
}

// events writes server-sent events.
type events struct {
	w          http.ResponseWriter
	controller *http.ResponseController
}

func (e *events) send(text string) error {
	if err := e.controller.SetWriteDeadline(time.Now().Add(streamWrite)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	if _, err := fmt.Fprint(e.w, text); err != nil {
		return err
	}
	return e.controller.Flush()
}
