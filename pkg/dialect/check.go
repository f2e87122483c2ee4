package dialect

import (
	"slices"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// Check returns everything that is found about the manifest of an application: first all that it is refused for, then the
// warnings. It reads no template that the manifest names by a URL.
func Check(d Dialect, app Application) finding.List {
	found := d.Invalid(app)
	plan, err := d.Plan(app, v1alpha1.Attempt{})
	found = append(found, AllRefusals(d, app, plan, err).Beside(found)...)
	return append(found, d.Warnings(app).Beside(found)...)
}

// AllRefusals returns everything for which a plan is refused: the problems that Plan returned with it, and those that Build would
// return. So a user corrects a manifest once. It reads no template that the plan names by a file or a URL.
func AllRefusals(d Dialect, app Application, plan submission.Plan, planned error) finding.List {
	for _, role := range roles {
		delete(plan.Properties, templateKey(role))
	}
	_, err := Build(d, app, plan)
	found := d.Refusals(app, planned)
	return slices.Concat(found, d.Refusals(app, err).Beside(found))
}

// Build makes the objects of a plan, completed as the API asks.
func Build(d Dialect, app Application, plan submission.Plan) (*submission.Objects, error) {
	objects, err := submission.Build(plan)
	if err != nil {
		return nil, err
	}
	if err := d.Complete(app, objects); err != nil {
		return nil, err
	}
	return objects, nil
}
