package liveapi

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/firesteel-dev/firesteel/pkg/access"
	"github.com/firesteel-dev/firesteel/pkg/console"
	"github.com/firesteel-dev/firesteel/pkg/console/live"
	"github.com/firesteel-dev/firesteel/pkg/console/visible"
	"github.com/firesteel-dev/firesteel/pkg/overview"
)

// Live is what runs, and who may see what of it.
type Live struct {
	*live.Live
	Views *visible.Views
}

// Routes are the routes about what runs.
func (l *Live) Routes() []console.Route {
	return []console.Route{
		{Path: "/live", Serve: l.page},
		{Path: "/live/overview", Serve: l.overview},
		{Path: "/live/calendar", Serve: l.calendar},
		{Path: "/live/stream", Serve: l.stream, Streams: true},
		{Path: "/live/namespaces/{namespace}/{resource}/{name}", Serve: l.object},
	}
}

// known is how much an answer is worth.
type known struct {
	// StaleSince is since when the API server does not answer: rows are as they were then. It is absent while it answers.
	StaleSince time.Time `json:"staleSince,omitzero"`
	// Complete is false while some rights of the reader are not reviewed yet: what they show is missing.
	Complete bool `json:"complete"`
}

// view returns what the reader may see.
func (l *Live) view(q *console.Request) (*visible.View, known, error) {
	view, err := l.Views.Of(q.Context(), q.Reader)
	if err != nil {
		return nil, known{}, err
	}
	return view, known{StaleSince: l.StaleSince(), Complete: view.Complete}, nil
}

// page answers with a page of rows.
func (l *Live) page(q *console.Request) error {
	query, err := live.ParseQuery(q.URL.Query())
	if err != nil {
		return invalid(err)
	}
	view, worth, err := l.view(q)
	if err != nil {
		return err
	}
	return q.Write(struct {
		live.Page
		known
	}{l.Page(view, query), worth})
}

// invalid returns the answer to a parameter that cannot be read.
func invalid(err error) error {
	var parameter *live.ParameterError
	if errors.As(err, &parameter) {
		return console.Invalid(parameter.Parameter, parameter.Value, parameter.Remedy)
	}
	return err
}

// overview answers with a summary.
func (l *Live) overview(q *console.Request) error {
	since, err := instant(q, "since", time.Now().Add(-24*time.Hour))
	if err != nil {
		return err
	}
	view, worth, err := l.view(q)
	if err != nil {
		return err
	}
	return q.Write(struct {
		live.Overview
		known
	}{l.Overview(view, since), worth})
}

// calendar answers with the runs of schedules.
func (l *Live) calendar(q *console.Request) error {
	from, err := instant(q, "from", time.Now().Add(-24*time.Hour))
	if err != nil {
		return err
	}
	until, err := instant(q, "until", from.Add(8*24*time.Hour))
	if err != nil {
		return err
	}
	view, worth, err := l.view(q)
	if err != nil {
		return err
	}
	return q.Write(struct {
		Runs []live.Run `json:"runs"`
		known
	}{append([]live.Run{}, l.Calendar(view, from, until)...), worth})
}

// instant returns the time of a parameter, or another one if it is empty.
func instant(q *console.Request, parameter string, otherwise time.Time) (time.Time, error) {
	text := q.URL.Query().Get(parameter)
	if text == "" {
		return otherwise, nil
	}
	return console.TimeOf(parameter, text)
}

// object answers with an application, a schedule or a cluster. The reader's right is checked before it is looked up.
func (l *Live) object(q *console.Request) error {
	ref := live.Ref{Namespace: q.PathValue("namespace"), Resource: q.PathValue("resource"), Name: q.PathValue("name")}
	noun, ok := live.NounOf(ref.Resource)
	if !ok {
		return console.Invalid("the resource", ref.Resource, "write one of "+strings.Join(live.ResourceNames(), ", "))
	}
	right := access.RightOn("get", ref.Resource, ref.Namespace, ref.Name)
	missing := console.NotFound(ref.Resource+" "+ref.Namespace+"/"+ref.Name, right)
	if may, err := access.Allowed(q.Check(q.Context(), right)); err != nil {
		return err
	} else if !may {
		return missing
	}
	pods, err := access.Allowed(q.Check(q.Context(), access.Right{Verb: "list", Resource: "pods", Namespace: ref.Namespace}))
	if err != nil {
		return err
	}
	view, worth, err := l.view(q)
	if err != nil {
		return err
	}
	switch noun {
	case overview.Schedule:
		if details, ok := l.Schedule(view, ref); ok {
			return q.Write(struct {
				*live.ScheduleDetails
				known
			}{details, worth})
		}
	case overview.Cluster:
		if details, ok := l.Cluster(view, ref, pods); ok {
			return q.Write(struct {
				*live.ClusterDetails
				known
			}{details, worth})
		}
	default:
		if details, ok := l.Details(ref, pods); ok {
			return q.Write(struct {
				*live.Details
				known
			}{details, worth})
		}
	}
	return missing
}

// stream sends what changes, until the reader's token ends.
func (l *Live) stream(q *console.Request) error {
	cursor, err := cursorOf(q, l.Cursor())
	if err != nil {
		return err
	}
	_, worth, err := l.view(q)
	if err != nil {
		return err
	}
	events, err := q.Events()
	if err != nil {
		return err
	}
	defer events.End()
	if events.Send("ready", l.Cursor(), worth) != nil {
		return nil // the client has left
	}
	_ = l.Follow(events.Context(), func(ctx context.Context) (live.Visible, error) {
		view, err := l.Views.Of(ctx, events.Reader())
		if errors.Is(err, access.ErrUnavailable) {
			return &visible.View{}, nil // until the API server can be asked
		}
		return view, err
	}, cursor, func(changes live.Changes) error {
		name := "changes"
		if changes.Missed {
			name = "reset"
		}
		return events.Send(name, changes.Cursor, changes)
	}) // the client has left, or must come again
	return nil
}

// cursorOf returns where the changes begin that the client wants.
func cursorOf(q *console.Request, otherwise uint64) (uint64, error) {
	text := q.Header.Get("Last-Event-ID")
	if text == "" {
		text = q.URL.Query().Get("cursor")
	}
	if text == "" {
		return otherwise, nil
	}
	cursor, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, console.Invalid("cursor", text, "write the cursor of an answer, or leave it out")
	}
	return cursor, nil
}
