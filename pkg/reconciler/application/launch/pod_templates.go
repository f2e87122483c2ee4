package launch

import (
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/diagnosis"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/kube"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/podtemplate"
	"github.com/firesteel-dev/firesteel/pkg/podtemplate/fetch"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/view"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// TemplateUnavailable means that a pod template could not be read.
type TemplateUnavailable struct {
	// pending reports whether it is still being read.
	pending bool
	// problem is nil as long as no read has failed.
	problem *finding.Finding
}

func (a *TemplateUnavailable) Error() string { return "a pod template is absent" }

func (a *TemplateUnavailable) cause(v *view.Application) *lifecycle.Cause {
	if a.problem == nil {
		return nil
	}
	return diagnosis.PodTemplateUnavailable(v.Dialect.Refusals(v.App, a.problem)).Cause(lifecycle.ClassInfrastructure)
}

// worst returns the more severe of two: a failed template before a template with a problem, and that before a pending one.
func (a *TemplateUnavailable) worst(b *TemplateUnavailable) *TemplateUnavailable {
	if a != nil && (!a.pending || b.pending && b.problem == nil) {
		return a
	}
	return b
}

// unavailableTemplate returns why a template is not available.
func unavailableTemplate(remote dialect.RemoteTemplate, err error) *TemplateUnavailable {
	const remedy = "make sure that the operator can reach it"
	var pending *fetch.Pending
	switch {
	case !errors.As(err, &pending):
		return &TemplateUnavailable{problem: remote.Refuse(fmt.Sprintf("could not be read (%v)", err), remedy)}
	case pending.Trouble != nil:
		problem := fmt.Sprintf("could not be read yet (%v) and is tried again", pending.Trouble)
		return &TemplateUnavailable{pending: true, problem: remote.Refuse(problem, remedy)}
	default:
		return &TemplateUnavailable{pending: true}
	}
}

// addTemplates adds to a plan the templates that it names by URLs. It returns warnings about what it dropped from them.
func (l *Launcher) addTemplates(
	v *view.Application, attempt v1alpha1.Attempt, plan *submission.Plan,
) (finding.List, error) {
	request := fetch.Attempt{NamespacedName: kube.KeyOf(v.App), UID: v.App.GetUID(), Number: attempt.ID}
	var warnings finding.List
	var refused []error
	var absent *TemplateUnavailable
	for _, remote := range dialect.RemoteTemplates(*plan, l.API.Fields) {
		template, dropped, err := l.template(request, v.Dialect.Settings().PodTemplates, remote.URL)
		var refusal *finding.Finding
		switch {
		case err == nil:
			if broken := v.Dialect.Settings().Rules.CheckPod(&template.Spec); len(broken) > 0 {
				refused = append(refused, remote.Found(broken).Err())
			}
			remote.ApplyTo(plan, template)
		case errors.As(err, &refusal):
			refused = append(refused, remote.Refuse(refusal.Message, refusal.Remedy))
		default:
			absent = absent.worst(unavailableTemplate(remote, err))
		}
		warnings.Add(remote.Found(dropped)...)
	}
	switch {
	case len(refused) > 0:
		return nil, v.Dialect.Refusals(v.App, errors.Join(refused...)).Err()
	case absent != nil:
		return nil, absent
	default:
		return warnings, nil
	}
}

func (l *Launcher) template(
	request fetch.Attempt, allowed podtemplate.Allowed, url string,
) (*corev1.PodTemplateSpec, finding.List, error) {
	location, refusal := allowed.Locate(url)
	if refusal != nil {
		return nil, nil, refusal
	}
	return l.Templates.Get(request, location)
}
