package dialect

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/podsecurity"
	"github.com/firesteel-dev/firesteel/pkg/podtemplate"
	"github.com/firesteel-dev/firesteel/pkg/policy"
	"github.com/firesteel-dev/firesteel/pkg/spec"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// Dialect translates for one API, with the operator's current settings. Every method is pure: the result follows from the
// arguments and the settings. Applications are never nil, and always of that API. Of makes a Dialect.
type Dialect interface {
	Specs
	Submissions
	Statuses
	Adoptions
	// Settings returns the operator's settings that are also needed outside of the translation.
	Settings() Settings
}

// Specs reads what an application asks for.
type Specs interface {
	// Policy returns what the spec asks of the lifecycle.
	Policy(app Application) lifecycle.Policy
	// Spec returns what the application asks an attempt to run with: the fields whose edit matters.
	Spec(app Application) spec.Spec
	// Invalid returns why the application can never run, whatever the settings of its attempts. Policy has the same as Refused, but
	// without the admin's rules once the application has run.
	Invalid(app Application) finding.List
	// UserDriver describes the driver that the user starts for the application; nil if Firesteel starts it.
	UserDriver(app Application) *UserDriver
	// Warnings returns what is not done as the application asks. The fields are not supported, contradict each other, or
	// were edited too late.
	Warnings(app Application) finding.List
}

// Submissions makes the objects of an attempt. The methods are called in this order.
type Submissions interface {
	// Plan returns what an attempt submits. Its error names the field that cannot be submitted.
	Plan(app Application, attempt v1alpha1.Attempt) (submission.Plan, error)
	// Ingredients returns what, besides the plan, the objects of an attempt depend on. The launch ID is a hash of both,
	// encoded as JSON.
	Ingredients(app Application) any
	// AddLaunchLabels adds to the Pods of a launch the labels that the API derives from the launch ID. All objects have the
	// label firesteel.dev/launch-id anyway.
	AddLaunchLabels(plan *submission.Plan, launchID string)
	// Complete changes the objects of an attempt as the API asks, beyond what Spark makes. It adds to Before what must exist
	// before the driver Pod, and to Owned what the driver Pod owns. The caller then sets owners, namespaces of Owned, the
	// label of the launch and LabelApplication.
	Complete(app Application, objects *submission.Objects) error
	// NotInstalled returns sentences about kinds of Owned that were not created because the cluster does not have them.
	// Empty strings are ignored. If a kind of Before is missing, the attempt fails.
	NotInstalled(kinds []string) []string
	// ObsoleteObjects returns objects of Before, by their kinds and names, that are not needed once no Pod of an attempt
	// will be created. They are deleted then. The others stay until the next attempt or the application's deletion.
	ObsoleteObjects(app Application) []submission.Object
	// Refusals returns why an attempt cannot be submitted. The findings name the fields of the spec or of the settings. err
	// is an error of Plan, submission.Build or Complete.
	Refusals(app Application, err error) finding.List
}

// Statuses writes and reads what the clients of the API see.
type Statuses interface {
	// Project writes a record and the facts into the status, conditions included. It does not change what the status shows
	// of the same attempt if the facts do not have it.
	Project(app Application, record *v1alpha1.Record, facts Facts)
	// SameStatus reports whether two applications have the same status, records included.
	SameStatus(a, b Application) bool
	// Restore returns a copy of an application with the status of another.
	Restore(app, last Application) Application
	// ShowsExecutors reports whether the status shows an executor of the present run.
	ShowsExecutors(app Application) bool
	// VisibleState returns the state that the status shows; empty if it shows none.
	VisibleState(app Application) string
	// KubernetesEvents returns the Kubernetes Events for what a write changed: at most 4 an attempt. before may have no record.
	KubernetesEvents(before, after Application) []KubernetesEvent
}

// Adoptions takes over what another operator left.
type Adoptions interface {
	// HasForeignStatus reports whether an application without record has the status of another operator.
	HasForeignStatus(app Application) bool
	// FinishedElsewhere reports whether an application without record has ended for good under another operator, and nothing
	// is left to be done for it.
	FinishedElsewhere(app Application) bool
	// SameVisibleStatus reports whether two statuses are equal for the clients of the operator that Firesteel replaces.
	SameVisibleStatus(a, b Application) bool
	// Inherit makes a record of the status that the other operator left. The record has no launch, and all its transitions
	// count as delivered. An empty status becomes the record of an application that was just created. Inherit fails if it
	// cannot understand the status.
	Inherit(app Application) (*v1alpha1.Record, error)
	// DriverLabels returns the label selector of an application's driver Pods, whichever operator created them.
	DriverLabels(app Application) string
	// PickDriver returns the driver of an inherited record's attempt among the driver Pods that the application owns. The
	// others must be gone before the application continues.
	PickDriver(app Application, record *v1alpha1.Record, pods []corev1.Pod) (driver *corev1.Pod, others []corev1.Pod)
	// Adopt adds the launch to an inherited record. driver is nil if there is none.
	Adopt(app Application, record *v1alpha1.Record, driver *corev1.Pod) (*v1alpha1.Record, error)
}

// Settings are the operator's settings that all APIs have. The settings of each API embed them.
type Settings struct {
	// DriverLogLines is how many of the last lines of a failed driver's log its end shows; 0 for none.
	DriverLogLines int
	// DriverServiceAccount is the service account of drivers for which an application names none; empty for the
	// namespace's default account.
	DriverServiceAccount string
	// WithoutDriverService creates drivers without a headless Service, unless an application's annotation chooses otherwise.
	WithoutDriverService bool
	// OneDriverConfigMap puts the executors' pod template into the ConfigMap of the driver's properties, unless an application's annotation
	// chooses otherwise.
	OneDriverConfigMap bool
	// EventLogs is how Spark's event logs get into the archives.
	EventLogs EventLogs
	// UINodeHost is the host of UIs at node ports: a name or an IP of the cluster's nodes; empty for the IP of the driver's node.
	UINodeHost string
	// PodTemplates are the URLs at which properties may name pod templates.
	PodTemplates podtemplate.Allowed
	// PodSecurity is what the Pods of driver and executors get for a profile of the Pod Security Standards.
	PodSecurity podsecurity.Profile
	// Rules are the admin's rules, of config-admission.
	Rules policy.Rules
}

// NewSettings returns the settings of an operator without settings.
func NewSettings() Settings {
	return Settings{PodSecurity: podsecurity.Profile{User: podsecurity.SparkUser}}
}

// Common returns s. A type that embeds Settings has this method, too, and so can be the settings of Functions.
func (s Settings) Common() Settings { return s }

// KubernetesEvent is an Event of Kubernetes on an application.
type KubernetesEvent struct {
	// Type is corev1.EventTypeNormal or corev1.EventTypeWarning.
	Type string
	// Reason is a word in CamelCase. Message is a sentence for people.
	Reason, Message string
}
