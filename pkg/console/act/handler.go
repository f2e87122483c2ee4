package act

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/firesteel-dev/firesteel/pkg/actions"
	"github.com/firesteel-dev/firesteel/pkg/console/session"
	"github.com/firesteel-dev/firesteel/pkg/overview"
)

const (
	// answerTimeout bounds an action.
	answerTimeout = 30 * time.Second
	// tries is how often an action is tried if others change the object meanwhile.
	tries = 4
)

// Handler does an action: POST /actions/{verb}, with the fields of an Offer. Require of package session guards it.
func (a *Actions) Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), answerTimeout)
		defer cancel()
		ref := Ref{Namespace: r.PostFormValue(fieldNamespace), Resource: r.PostFormValue(fieldResource), Name: r.PostFormValue(fieldName)}
		verb := Verb(r.PathValue("verb"))
		created, err := a.do(ctx, session.Of(r.Context()), ref, verb, r.PostForm)
		if err != nil {
			status, message := a.Explain(err)
			a.Pages.Problem(w, r, status, message)
			return
		}
		kind, _ := ref.kind()
		page := ref.Page(kind.Noun)
		switch {
		case created != nil:
			page = Ref{Namespace: created.GetNamespace(), Resource: created.Resource.GroupResource().String(), Name: created.GetName()}.Page(overview.Application)
		case verb == Delete:
			page = "/applications"
		}
		http.Redirect(w, r, a.Prefix()+page+"?"+url.Values{ParamDone: {string(verb)}}.Encode(), http.StatusSeeOther)
	})
}

// do does an action, if the object is still as the user was shown it.
func (a *Actions) do(ctx context.Context, s *session.Session, ref Ref, verb Verb, form url.Values) (*actions.Object, error) {
	for try := 1; ; try++ {
		subject, _, err := a.subject(ctx, s, ref, verb)
		if err != nil {
			return nil, err
		}
		if string(subject.GetUID()) != form.Get(fieldUID) {
			return nil, errReplaced
		}
		asShown, err := a.offered(subject, verb)
		if err != nil {
			return nil, &refusedError{err}
		}
		if asShown.Nothing != "" || shown(subject, asShown) != form.Get(fieldShown) {
			return nil, errChanged
		}
		plan, err := a.plan(subject, verb, form)
		if err != nil {
			return nil, &refusedError{err}
		}
		if plan.Nothing != "" {
			return nil, &refusedError{errors.New(subject.Reference() + " " + plan.Nothing + ": nothing was done")}
		}
		client, err := a.Clients.Of(s)
		if err != nil {
			return nil, err
		}
		created, err := plan.Do(ctx, client, actions.WriteOptions{Unchanged: true})
		if apierrors.IsConflict(err) && try < tries {
			continue // another writer, such as the controller, has changed the object: is the action still the one that was confirmed?
		}
		if apierrors.IsAlreadyExists(err) && verb == Rerun && form.Get(fieldNewName) == "" {
			return plan.Creates, nil // the form was sent before
		}
		if err == nil {
			a.Logger.Infow("action done", "verb", verb, "resource", ref.Resource, "namespace", ref.Namespace, "name", ref.Name, "user", s.Name())
		}
		return created, err
	}
}
