package application

import (
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/podtemplate"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// absentTemplate says that a pod template is not there.
type absentTemplate struct {
	// pending says that it may come yet.
	pending bool
	// problem is nil while nothing went wrong.
	problem *submission.FieldError
}

func (a *absentTemplate) Error() string { return "a pod template is absent" }

func (a *absentTemplate) cause(d dialect.Dialect, app dialect.Application) *lifecycle.Cause {
	if a.problem == nil {
		return nil
	}
	return &lifecycle.Cause{
		Class: lifecycle.ClassInfrastructure, Reason: "PodTemplateUnavailable", Message: d.Refusal(app, a.problem),
	}
}

// worse is a template that never came before one that is in trouble, and that before one that is on its way.
func (a *absentTemplate) worse(b *absentTemplate) *absentTemplate {
	if a != nil && (!a.pending || b.pending && b.problem == nil) {
		return a
	}
	return b
}

// absence is why a template did not come.
func absence(remote dialect.RemoteTemplate, err error) *absentTemplate {
	const remedy = "see that the operator can reach it"
	var pending *podtemplate.Pending
	switch {
	case !errors.As(err, &pending):
		return &absentTemplate{problem: remote.Refuse(fmt.Sprintf("could not be read (%v)", err), remedy)}
	case pending.Trouble != nil:
		problem := fmt.Sprintf("could not be read yet (%v) and is tried again", pending.Trouble)
		return &absentTemplate{pending: true, problem: remote.Refuse(problem, remedy)}
	default:
		return &absentTemplate{pending: true}
	}
}

// giveTemplates puts the templates into a plan that it names by URLs. It returns what of them was dropped.
func (r *Reconciler) giveTemplates(
	d dialect.Dialect, app dialect.Application, attempt v1alpha1.Attempt, plan *submission.Plan,
) ([]string, error) {
	asks := podtemplate.Attempt{NamespacedName: keyOf(app), UID: app.GetUID(), Number: attempt.ID}
	var warnings []string
	var refused []error
	var absent *absentTemplate
	for _, remote := range dialect.RemoteTemplates(*plan, r.api.Fields) {
		template, dropped, err := r.template(asks, d.Settings().PodTemplates, remote.URL)
		var refusal *podtemplate.Refusal
		switch {
		case err == nil:
			remote.ApplyTo(plan, template)
		case errors.As(err, &refusal):
			refused = append(refused, remote.Refuse(refusal.Problem, refusal.Remedy))
		default:
			absent = absent.worse(absence(remote, err))
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
	asks podtemplate.Attempt, allowed podtemplate.Allowed, url string,
) (*corev1.PodTemplateSpec, []string, error) {
	location, refusal := allowed.Locate(url)
	if refusal != nil {
		return nil, nil, refusal
	}
	return r.templates.Get(asks, location)
}
