package application

import (
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/podtemplate"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// templateUnavailable means that a pod template could not be read.
type templateUnavailable struct {
	// pending reports whether it is still being read.
	pending bool
	// problem is nil while nothing went wrong.
	problem *submission.FieldError
}

func (a *templateUnavailable) Error() string { return "a pod template is absent" }

func (a *templateUnavailable) cause(v *view) *lifecycle.Cause {
	if a.problem == nil {
		return nil
	}
	return &lifecycle.Cause{
		Class: lifecycle.ClassInfrastructure, Reason: "PodTemplateUnavailable", Message: v.dialect.Refusal(v.app, a.problem),
	}
}

// worst is a template that never came before one that is in trouble, and that before one that is on its way.
func (a *templateUnavailable) worst(b *templateUnavailable) *templateUnavailable {
	if a != nil && (!a.pending || b.pending && b.problem == nil) {
		return a
	}
	return b
}

// unavailableTemplate is why a template did not come.
func unavailableTemplate(remote dialect.RemoteTemplate, err error) *templateUnavailable {
	const remedy = "see that the operator can reach it"
	var pending *podtemplate.Pending
	switch {
	case !errors.As(err, &pending):
		return &templateUnavailable{problem: remote.Refuse(fmt.Sprintf("could not be read (%v)", err), remedy)}
	case pending.Trouble != nil:
		problem := fmt.Sprintf("could not be read yet (%v) and is tried again", pending.Trouble)
		return &templateUnavailable{pending: true, problem: remote.Refuse(problem, remedy)}
	default:
		return &templateUnavailable{pending: true}
	}
}

// addTemplates puts the templates into a plan that it names by URLs. It returns what of them was dropped.
func (r *Reconciler) addTemplates(
	v *view, attempt v1alpha1.Attempt, plan *submission.Plan,
) ([]string, error) {
	request := podtemplate.Attempt{NamespacedName: base.KeyOf(v.app), UID: v.app.GetUID(), Number: attempt.ID}
	var warnings []string
	var refused []error
	var absent *templateUnavailable
	for _, remote := range dialect.RemoteTemplates(*plan, r.api.Fields) {
		template, dropped, err := r.template(request, v.dialect.Settings().PodTemplates, remote.URL)
		var refusal *podtemplate.Refusal
		switch {
		case err == nil:
			remote.ApplyTo(plan, template)
		case errors.As(err, &refusal):
			refused = append(refused, remote.Refuse(refusal.Problem, refusal.Remedy))
		default:
			absent = absent.worst(unavailableTemplate(remote, err))
		}
		for _, sentence := range dropped {
			warnings = append(warnings, fmt.Sprintf("In %s %s.", remote.URL, sentence))
		}
	}
	switch {
	case len(refused) > 0:
		return nil, errors.Join(refused...)
	case absent != nil:
		return nil, absent
	default:
		return warnings, nil
	}
}

func (r *Reconciler) template(
	request podtemplate.Attempt, allowed podtemplate.Allowed, url string,
) (*corev1.PodTemplateSpec, []string, error) {
	location, refusal := allowed.Locate(url)
	if refusal != nil {
		return nil, nil, refusal
	}
	return r.templates.Get(request, location)
}
