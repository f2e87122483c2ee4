package site

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/firesteel-dev/firesteel/pkg/console"
	"github.com/firesteel-dev/firesteel/pkg/console/live"
	"github.com/firesteel-dev/firesteel/pkg/console/sparkui"
	"github.com/firesteel-dev/firesteel/pkg/overview"
)

// Running calls a function for each application whose driver runs and that a reader may list, the newest first, until it returns false.
func (s *Site) Running(ctx context.Context, reader console.Reader, each func(sparkui.Run) bool) error {
	view, err := s.options.Views.Of(ctx, reader)
	if err == nil {
		s.eachRun(view, nil, each)
	}
	return err
}

// Named returns the application in a namespace that fits and whose driver runs, whether the user may read it or not.
func (s *Site) Named(namespace string, fits func(sparkui.Run) bool) (found sparkui.Run, ok bool) {
	s.eachRun(everything{}, []string{namespace}, func(run sparkui.Run) bool {
		if ok = fits(run); ok {
			found = run
		}
		return !ok
	})
	return found, ok
}

// everything is a live.Visible of who may see everything.
type everything struct{}

func (everything) Sees(string, string) bool { return true }

// eachRun calls a function for each application whose driver runs, until it returns false.
func (s *Site) eachRun(see live.Visible, namespaces []string, each func(sparkui.Run) bool) {
	query := live.Query{Limit: live.MaxPageSize}
	query.Noun, query.Namespaces, query.Outcomes = overview.Application, namespaces, []live.Outcome{overview.Running}
	for {
		page := s.options.Source.Page(see, query)
		for _, row := range page.Rows {
			if !row.Started.IsZero() && row.Ended.IsZero() && !each(runOf(row)) {
				return
			}
		}
		if query.Offset += query.Limit; query.Offset >= page.Total {
			return
		}
	}
}

func runOf(row *live.Row) sparkui.Run {
	resource := schema.ParseGroupResource(row.Resource)
	return sparkui.Run{
		Ref: sparkui.Ref{Resource: resource.Resource, Group: resource.Group, Namespace: row.Namespace, Name: row.Name},
		UID: row.UID, Attempt: row.Attempt, User: row.User, Started: row.Started,
	}
}
