package dialect

import (
	"errors"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// Checked is the manifest of an application with what is found about it.
type Checked struct {
	// Found has first all that the application is refused for, then the warnings.
	Found finding.List
	// Plan is what the first attempt would submit, and Objects are its objects. Objects is nil if nothing would be submitted: the
	// application is refused, or its user starts the driver.
	Plan    submission.Plan
	Objects *submission.Objects
}

// Check checks the manifest of an application. It reads no template that the manifest names by a URL.
func Check(d Dialect, api *API, app Application) Checked {
	checked := Checked{Found: d.Invalid(app)}
	var warnings finding.List
	if d.UserDriver(app) == nil {
		plan, objects, refused, more := try(d, api, app)
		checked.Plan, warnings = plan, more
		checked.Found = append(checked.Found, refused.Beside(checked.Found)...)
		if len(checked.Found) == 0 {
			checked.Objects = objects
		}
	}
	for _, more := range []finding.List{d.Warnings(app), warnings} {
		checked.Found = append(checked.Found, more.Beside(checked.Found)...)
	}
	checked.Found = checked.Found.Once()
	return checked
}

// try makes the plan and the objects of the first attempt.
func try(d Dialect, api *API, app Application) (plan submission.Plan, objects *submission.Objects, refused, warnings finding.List) {
	plan, planned := d.Plan(app, v1alpha1.Attempt{})
	remote := RemoteTemplates(plan, api.Fields)
	var unlocated []error
	for _, template := range remote {
		if _, refusal := d.Settings().PodTemplates.Locate(template.URL); refusal != nil {
			unlocated = append(unlocated, template.Refuse(refusal.Message, refusal.Remedy))
		}
	}
	ApplySettings(&plan, app, v1alpha1.Attempt{}, d.Settings())
	objects, refused = draft(d, app, plan, planned)
	refused = append(refused, d.Refusals(app, errors.Join(unlocated...)).Beside(refused)...)
	if len(remote) == 0 {
		warnings = LaunchWarnings(d, api, app, plan, objects)
	} else { // a template may name the service account
		warnings = planWarnings(d, app, plan, objects)
	}
	return plan, objects, refused, warnings.IndependentOf(refused)
}

// ApplySettings completes the plan of an attempt by the operator's settings. It reads the plan's templates, so those at URLs have to be
// applied before.
func ApplySettings(plan *submission.Plan, app metav1.Object, attempt v1alpha1.Attempt, settings Settings) {
	setEventLog(plan, app, attempt, settings.EventLogs)
	setServiceAccount(plan, settings.DriverServiceAccount)
	setPodSecurity(plan, settings.PodSecurity)
}

// AllRefusals returns everything for which a plan is refused: the problems that Plan returned with it, and those that Build would
// return. So a user corrects a manifest once. It reads no template that the plan names by a file or a URL.
func AllRefusals(d Dialect, app Application, plan submission.Plan, planned error) finding.List {
	_, refused := draft(d, app, plan, planned)
	return refused
}

// draft makes the objects of a plan as Build does, and returns them with everything for which they are refused.
func draft(d Dialect, app Application, plan submission.Plan, planned error) (*submission.Objects, finding.List) {
	for _, role := range roles {
		delete(plan.Properties, templateKey(role))
	}
	refused := d.Refusals(app, planned)
	objects, err := submission.Draft(plan)
	refused = append(refused, d.Refusals(app, err).Beside(refused)...)
	more := d.Refusals(app, complete(d, app, plan, objects))
	return objects, append(refused, more.IndependentOf(refused)...)
}

// Build makes the objects of a plan, completed as the API asks.
func Build(d Dialect, app Application, plan submission.Plan) (*submission.Objects, error) {
	objects, err := submission.Build(plan)
	if err != nil {
		return nil, err
	}
	if err := complete(d, app, plan, objects); err != nil {
		return nil, err
	}
	return objects, nil
}

// complete completes the objects of a plan as the API asks, and checks them.
func complete(d Dialect, app Application, plan submission.Plan, objects *submission.Objects) error {
	spark := objects.Driver.Spec.Containers[len(objects.Driver.Spec.Containers)-1].Name // Build adds it last
	refused := []error{d.Complete(app, objects), checkCount(objects)}
	completeDriver(objects.Driver, spark, d.Settings().PodSecurity)
	if plan.EventLogs != nil {
		plan.EventLogs.AddTo(objects.Driver, spark)
	}
	return errors.Join(append(refused, checkDriver(d, plan.DriverTemplate, objects.Driver, spark).Err())...)
}

// LaunchWarnings returns what an application is warned of once its objects are known.
func LaunchWarnings(d Dialect, api *API, app Application, plan submission.Plan, objects *submission.Objects) finding.List {
	return slices.Concat(
		WarnOfUnnamedAccount(objects.Driver, api.Fields), d.Refusals(app, LostWithoutService(plan, objects).Err()),
		WarnOfPodSecurity(plan, objects.Driver, d.Settings().PodSecurity, api.Fields), planWarnings(d, app, plan, objects),
	)
}

// planWarnings returns what an application is warned of whatever the templates hold that are read at the launch.
func planWarnings(d Dialect, app Application, plan submission.Plan, objects *submission.Objects) finding.List {
	return d.Refusals(app, slices.Concat(
		submission.CheckExecutors(plan), submission.CheckImages(plan, objects.Driver), otherVersion(plan), sidecarWarnings(app, plan, d.Settings().EventLogs),
	).Err())
}

// maxObjects is how many objects a launch may have besides its driver Pod. Each is a write to the API server.
const maxObjects = 256

func checkCount(objects *submission.Objects) error {
	count := len(objects.Before) + len(objects.Owned)
	if count <= maxObjects {
		return nil
	}
	return &finding.Finding{
		Severity: finding.Error, Field: "spec", Message: fmt.Sprintf("asks for %d objects beside the driver Pod, and %d can be made", count, maxObjects),
		Remedy: "ask for fewer config maps, volume claims, Services and routes",
	}
}
