package dialect

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/podtemplate"
	"github.com/firesteel-dev/firesteel/pkg/spec"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// Dialect translates for one API, with the operator's settings of the moment. Each question is pure: an answer follows
// from the arguments and the settings. Applications are never nil, and always of that API.
type Dialect interface {
	Specs
	Submissions
	Statuses
	Adoptions
	Settings
}

// Specs are questions about what an application asks for.
type Specs interface {
	// Policy is what the spec says about the lifecycle.
	Policy(app Application) lifecycle.Policy
	// Spec is what the application asks an attempt to run with: the fields whose edit matters.
	Spec(app Application) spec.Spec
	// Warnings are sentences about what is not done as the application asks: fields that are neglected, that contradict
	// each other, or that were edited too late.
	Warnings(app Application) []string
}

// Submissions are questions about what an attempt consists of. They are asked in this order.
type Submissions interface {
	// Plan is what an attempt submits. It fails with what cannot be done, by the field's name.
	Plan(app Application, attempt v1alpha1.Attempt) (submission.Plan, error)
	// Ingredients are what, besides the plan, decides what the objects of an attempt look like, to be encoded as JSON:
	// the launch id is a hash of both.
	Ingredients(app Application) any
	// Sign has the Pods of a launch carry what the API derives from the launch id. The label firesteel.dev/launch-id is
	// on all objects anyway.
	Sign(plan *submission.Plan, launchID string)
	// Complete does to the objects of an attempt what the API asks for beyond what Spark makes: it changes them, and adds
	// to Before what must exist before the driver Pod, and to Owned what goes with it. Owners, namespaces of Owned, the
	// label of the launch and LabelApplication are set afterwards.
	Complete(app Application, objects *submission.Objects) error
	// NotInstalled are sentences about kinds of objects of Owned that were not made, since the cluster does not have them;
	// empty strings don't count. Where one of Before is missing, the attempt has failed.
	NotInstalled(kinds []string) []string
	// Spent are objects of Before, by their kinds and names, that are of no use once no Pod of an attempt is to come. They
	// are deleted then; the others stay until the next attempt or the application's deletion.
	Spent(app Application) []submission.Object
	// Refusal says in terms of the spec, or of the settings, why an attempt cannot be submitted: err is one of Plan's, of
	// submission.Build's or of Complete's.
	Refusal(app Application, err error) string
}

// Statuses are questions about what the clients of the API read.
type Statuses interface {
	// Project writes a record and what is said beyond it into the status, conditions included. What the status shows of
	// the same attempt, and facts don't know of, stays.
	Project(app Application, record *v1alpha1.Record, facts Facts)
	// Restore returns an application with the status of another.
	Restore(app, last Application) Application
	// ShowsExecutors says that the status tells of an executor of the present run, or did.
	ShowsExecutors(app Application) bool
	// ShownState is the state that the status shows; empty where it shows none.
	ShownState(app Application) string
	// Announcements are the Kubernetes Events of what a write brought: at most 4 an attempt. before may have no record.
	Announcements(before, after Application) []Announcement
}

// Adoptions are questions about what another operator left.
type Adoptions interface {
	// Begun says that somebody took care of an application without record: its status tells of it.
	Begun(app Application) bool
	// History says that an application without record has ended for good, and that nothing of it is left to come.
	History(app Application) bool
	// SameShown says that two statuses show the same to the clients of the operator that Firesteel replaces.
	SameShown(a, b Application) bool
	// Inherit makes a record of what that operator left, without a launch, all of it told. Of a status that says nothing
	// it makes the record of an application that was just created. It fails where the status cannot be understood.
	Inherit(app Application) (*v1alpha1.Record, error)
	// DriverLabels select the driver Pods of an application, whoever made them.
	DriverLabels(app Application) string
	// PickDriver finds the driver of an inherited record's attempt among driver Pods that the application owns. The others
	// have to go before the application goes on.
	PickDriver(app Application, record *v1alpha1.Record, pods []corev1.Pod) (driver *corev1.Pod, others []corev1.Pod)
	// Adopt gives an inherited record its launch. driver is nil where there is none.
	Adopt(app Application, record *v1alpha1.Record, driver *corev1.Pod) (*v1alpha1.Record, error)
}

// Settings are the operator's settings that more than the translation needs.
type Settings interface {
	// DriverLogLines is how many of the last lines of a failed driver's log are told with its end; 0 for none.
	DriverLogLines() int
	// PodTemplates are where pod templates may be that properties name by a URL.
	PodTemplates() podtemplate.Allowed
	// DriverServiceAccount is the account of drivers for which an application names none; empty for the namespace's
	// default account.
	DriverServiceAccount() string
}

// Announcement is a Kubernetes Event on an application.
type Announcement struct {
	// Type is corev1.EventTypeNormal or corev1.EventTypeWarning.
	Type string
	// Reason is a word in CamelCase, and Message for people.
	Reason, Message string
}
