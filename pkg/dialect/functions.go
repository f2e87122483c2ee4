package dialect

import (
	"fmt"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/policy"
	"github.com/firesteel-dev/firesteel/pkg/spec"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// Functions is a Dialect as functions of the API's own types. A is the type of its applications, S the type of its settings.
// The method of Dialect with the same name describes each function.
type Functions[A Application, S interface{ Common() Settings }] struct {
	Policy   func(app A, settings S) lifecycle.Policy
	Invalid  func(app A, settings S) finding.List
	Spec     func(app A) spec.Spec
	Warnings func(app A, settings S) finding.List

	UserDriver func(app A, settings S) *UserDriver
	// Manifest returns what the admin's rules read of an application.
	Manifest func(app A, settings S) *policy.Manifest

	Plan            func(app A, attempt v1alpha1.Attempt, settings S) (submission.Plan, error)
	Ingredients     func(app A, settings S) any
	AddLaunchLabels func(plan *submission.Plan, launchID string)
	Complete        func(app A, settings S, objects *submission.Objects) error
	NotInstalled    func(kinds []string) []string
	ObsoleteObjects func(app A, settings S) []submission.Object
	Refusals        func(err error, app A, settings S) finding.List

	Project          func(app A, record *v1alpha1.Record, facts Facts, settings S)
	SameStatus       func(a, b A) bool
	Restore          func(app, last A) A
	ShowsExecutors   func(app A) bool
	VisibleState     func(app A) string
	KubernetesEvents func(before, after A) []KubernetesEvent

	HasForeignStatus  func(app A) bool
	FinishedElsewhere func(app A, settings S) bool
	SameVisibleStatus func(a, b A) bool
	Inherit           func(app A, settings S) (*v1alpha1.Record, error)
	DriverLabels      func(app A) string
	PickDriver        func(app A, record *v1alpha1.Record, pods []corev1.Pod) (driver *corev1.Pod, others []corev1.Pod)
	Adopt             func(app A, settings S, record *v1alpha1.Record, driver *corev1.Pod) (*v1alpha1.Record, error)
}

// Of returns a constructor of Dialects that call the functions. It panics if a function is missing: each API calls Of once,
// when the process starts.
func Of[A Application, S interface{ Common() Settings }](functions Functions[A, S]) func(settings S) Dialect {
	all := reflect.ValueOf(functions)
	for i := range all.NumField() {
		if all.Field(i).IsNil() {
			panic(fmt.Sprintf("the dialect of %s lacks the function %s", reflect.TypeFor[A](), all.Type().Field(i).Name))
		}
	}
	return func(settings S) Dialect { return adapter[A, S]{&functions, settings} }
}

// adapter is a Dialect of functions: it asserts the type of the applications.
type adapter[A Application, S interface{ Common() Settings }] struct {
	functions *Functions[A, S]
	settings  S
}

func (d adapter[A, S]) Policy(app Application) lifecycle.Policy {
	result := d.functions.Policy(app.(A), d.settings)
	result.Stop = stopOf(app)
	if len(d.settings.Common().Rules) == 0 || hasRun(app, d.Spec(app)) {
		return result
	}
	if broken := d.brokenRules(app); len(broken) > 0 {
		found := d.functions.Invalid(app.(A), d.settings)
		result.Refused = Refused(append(found, broken.Beside(found)...))
	}
	return result
}

func (d adapter[A, S]) Invalid(app Application) finding.List {
	found := d.functions.Invalid(app.(A), d.settings)
	return append(found, d.brokenRules(app).Beside(found)...)
}

// brokenRules returns what of an application breaks the admin's rules.
func (d adapter[A, S]) brokenRules(app Application) finding.List {
	rules := d.settings.Common().Rules
	if len(rules) == 0 {
		return nil
	}
	return rules.Check(d.functions.Manifest(app.(A), d.settings))
}

func (d adapter[A, S]) Spec(app Application) spec.Spec { return d.functions.Spec(app.(A)) }

func (d adapter[A, S]) Warnings(app Application) finding.List {
	return slices.Concat(d.functions.Warnings(app.(A), d.settings), stopWarnings(app), eventLogWarnings(app, d.settings.Common().EventLogs))
}

func (d adapter[A, S]) UserDriver(app Application) *UserDriver {
	return d.functions.UserDriver(app.(A), d.settings)
}

func (d adapter[A, S]) Plan(app Application, attempt v1alpha1.Attempt) (submission.Plan, error) {
	return d.functions.Plan(app.(A), attempt, d.settings)
}

func (d adapter[A, S]) Ingredients(app Application) any {
	return d.functions.Ingredients(app.(A), d.settings)
}

func (d adapter[A, S]) AddLaunchLabels(plan *submission.Plan, launchID string) {
	d.functions.AddLaunchLabels(plan, launchID)
}

func (d adapter[A, S]) Complete(app Application, objects *submission.Objects) error {
	return d.functions.Complete(app.(A), d.settings, objects)
}

func (d adapter[A, S]) NotInstalled(kinds []string) []string { return d.functions.NotInstalled(kinds) }

func (d adapter[A, S]) ObsoleteObjects(app Application) []submission.Object {
	return d.functions.ObsoleteObjects(app.(A), d.settings)
}

func (d adapter[A, S]) Refusals(app Application, err error) finding.List {
	return d.functions.Refusals(err, app.(A), d.settings)
}

func (d adapter[A, S]) Project(app Application, record *v1alpha1.Record, facts Facts) {
	d.functions.Project(app.(A), record, facts, d.settings)
}

func (d adapter[A, S]) SameStatus(a, b Application) bool {
	return d.functions.SameStatus(a.(A), b.(A))
}

func (d adapter[A, S]) Restore(app, last Application) Application {
	return d.functions.Restore(app.(A), last.(A))
}

func (d adapter[A, S]) ShowsExecutors(app Application) bool {
	return d.functions.ShowsExecutors(app.(A))
}

func (d adapter[A, S]) VisibleState(app Application) string { return d.functions.VisibleState(app.(A)) }

func (d adapter[A, S]) KubernetesEvents(before, after Application) []KubernetesEvent {
	return d.functions.KubernetesEvents(before.(A), after.(A))
}

func (d adapter[A, S]) HasForeignStatus(app Application) bool {
	return d.functions.HasForeignStatus(app.(A))
}

func (d adapter[A, S]) FinishedElsewhere(app Application) bool {
	return d.functions.FinishedElsewhere(app.(A), d.settings)
}

func (d adapter[A, S]) SameVisibleStatus(a, b Application) bool {
	return d.functions.SameVisibleStatus(a.(A), b.(A))
}

func (d adapter[A, S]) Inherit(app Application) (*v1alpha1.Record, error) {
	return d.functions.Inherit(app.(A), d.settings)
}

func (d adapter[A, S]) DriverLabels(app Application) string { return d.functions.DriverLabels(app.(A)) }

func (d adapter[A, S]) PickDriver(
	app Application, record *v1alpha1.Record, pods []corev1.Pod,
) (driver *corev1.Pod, others []corev1.Pod) {
	return d.functions.PickDriver(app.(A), record, pods)
}

func (d adapter[A, S]) Adopt(app Application, record *v1alpha1.Record, driver *corev1.Pod) (*v1alpha1.Record, error) {
	return d.functions.Adopt(app.(A), d.settings, record, driver)
}

func (d adapter[A, S]) Settings() Settings { return d.settings.Common() }
