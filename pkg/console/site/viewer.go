package site

import (
	"context"

	"k8s.io/client-go/kubernetes"

	"github.com/firesteel-dev/firesteel/pkg/access"
	"github.com/firesteel-dev/firesteel/pkg/console/act"
	"github.com/firesteel-dev/firesteel/pkg/console/live"
	"github.com/firesteel-dev/firesteel/pkg/console/pages"
	"github.com/firesteel-dev/firesteel/pkg/console/session"
)

// viewer is a user who is signed in.
type viewer struct {
	session *session.Session
	site    *Site
}

func (v *viewer) Name() string { return v.session.Name() }

func (v *viewer) CSRF() string { return v.session.CSRF() }

func (v *viewer) CanSignOut() bool { return v.session.CanSignOut }

func (v *viewer) Check(ctx context.Context) error { return v.session.Valid(ctx) }

func (v *viewer) Visible(ctx context.Context) (live.Visible, error) {
	view, err := v.site.options.Views.Of(ctx, v.session.Reader)
	if err != nil {
		return nil, err
	}
	return view, nil
}

func (v *viewer) May(ctx context.Context, right access.Right) (bool, error) {
	return access.Allowed(v.session.Reader.Check(ctx, right))
}

func (v *viewer) Buttons(ctx context.Context, ref live.Ref, status act.Status) []act.Button {
	return v.site.actions.Buttons(ctx, v.session, act.Ref(ref), status)
}

func (v *viewer) Offer(ctx context.Context, ref live.Ref, verb act.Verb) (*act.Offer, error) {
	offer, err := v.site.actions.Offer(ctx, v.session, act.Ref(ref), verb)
	if err != nil {
		status, message := v.site.actions.Explain(err)
		return nil, &pages.Refusal{Status: status, Message: message}
	}
	return offer, nil
}

func (v *viewer) Identity() (pages.Identity, error) {
	objects, err := v.site.options.Clients.Of(v.session)
	if err != nil {
		return nil, err
	}
	client, err := kubernetes.NewForConfig(v.site.options.Clients.Config(v.session))
	if err != nil {
		return nil, err
	}
	options := &v.site.options
	return &identity{objects: objects, client: client, settings: options.Settings, clock: options.Clock, user: v.Name(), plans: v.site.plans}, nil
}
