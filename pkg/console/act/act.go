package act

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"go.uber.org/zap"
	"k8s.io/client-go/dynamic"
	"k8s.io/utils/clock"

	"github.com/firesteel-dev/firesteel/pkg/access"
	"github.com/firesteel-dev/firesteel/pkg/actions"
	"github.com/firesteel-dev/firesteel/pkg/console"
	"github.com/firesteel-dev/firesteel/pkg/console/session"
	"github.com/firesteel-dev/firesteel/pkg/dialect/early"
	"github.com/firesteel-dev/firesteel/pkg/overview"
	"github.com/firesteel-dev/firesteel/pkg/schedule/variant"
)

// Verb names an action, in addresses and forms.
type Verb string

// The verbs.
const (
	Suspend Verb = "suspend"
	Resume  Verb = "resume"
	Stop    Verb = "stop"
	Rerun   Verb = "rerun"
	Run     Verb = "run"
	Scale   Verb = "scale"
	Delete  Verb = "delete"
)

// Button is an action on an object.
type Button struct {
	Verb  Verb
	Title string
	// Danger reports whether what it ends cannot be got back.
	Danger bool
}

// buttons are the actions on each kind of objects, in the order in which they are shown.
var buttons = map[overview.Kind][]Button{
	overview.Application: {
		{Verb: Rerun, Title: "Run again"}, {Verb: Suspend, Title: "Suspend"}, {Verb: Resume, Title: "Resume"},
		{Verb: Stop, Title: "Stop", Danger: true}, {Verb: Delete, Title: "Delete", Danger: true},
	},
	overview.Schedule: {
		{Verb: Run, Title: "Run now"}, {Verb: Suspend, Title: "Suspend"}, {Verb: Resume, Title: "Resume"}, {Verb: Delete, Title: "Delete", Danger: true},
	},
	overview.Cluster: {
		{Verb: Scale, Title: "Scale"}, {Verb: Suspend, Title: "Suspend"}, {Verb: Resume, Title: "Resume"}, {Verb: Delete, Title: "Delete", Danger: true},
	},
}

// Ref names an object.
type Ref struct {
	Namespace string
	// Resource is the plural and the group of the kind, such as sparkapplications.spark.apache.org.
	Resource string
	Name     string
}

// kind returns the kind of an object.
func (r Ref) kind() (actions.Kind, bool) {
	i := slices.IndexFunc(actions.Kinds, func(k actions.Kind) bool { return k.GroupResource.String() == r.Resource })
	if i < 0 {
		return actions.Kind{}, false
	}
	return actions.Kinds[i], true
}

// Page returns the path of the page of an object, by its kind, below the prefix.
func (r Ref) Page(noun overview.Kind) string {
	var path []string
	switch noun {
	case overview.Cluster:
		path = []string{"clusters", r.Namespace, r.Name}
	case overview.Schedule:
		path = []string{"schedules", r.Namespace, r.Resource, r.Name}
	default:
		path = []string{"applications", r.Namespace, r.Resource, r.Name}
	}
	for i := range path {
		path[i] = url.PathEscape(path[i])
	}
	return "/" + strings.Join(path, "/")
}

// ParamDone is the parameter by which the page of an object learns that an action was done. Its value is the verb.
const ParamDone = "did"

// Clients make requests to the API server with a user's own identity.
type Clients interface {
	Of(s *session.Session) (dynamic.Interface, error)
}

// Options are what Actions needs.
type Options struct {
	Clients Clients
	Pages   session.Problems
	// Allowed reports whether the installation allows actions.
	Allowed func() bool
	// Prefix returns what the paths of pages begin with, without a slash at its end.
	Prefix func() string
	Clock  clock.PassiveClock
	Logger *zap.SugaredLogger
}

// Actions are what users do from pages.
type Actions struct{ Options }

// New returns Actions.
func New(options Options) *Actions { return &Actions{options} }

// Status is what the buttons of an object depend on.
type Status struct {
	// Suspended reports whether the object is suspended, and Ended whether it is an application that has ended: nothing of it can be stopped or held.
	Suspended, Ended bool
}

// Buttons returns the actions on an object for which a user has the right; none while the setting allows no actions.
func (a *Actions) Buttons(ctx context.Context, reader console.Reader, ref Ref, status Status) []Button {
	kind, known := ref.kind()
	if !known || !a.Allowed() {
		return nil
	}
	var may []Button
	for _, button := range buttons[kind.Noun] {
		switch {
		case button.Verb == Suspend && status.Suspended || button.Verb == Resume && !status.Suspended:
		case status.Ended && (button.Verb == Stop || button.Verb == Suspend || button.Verb == Resume):
		case (button.Verb == Suspend || button.Verb == Resume) && kind.Group == early.API.Group: // it has no field for it
		case reader.Check(ctx, rightTo(button.Verb, kind, ref)) == nil:
			may = append(may, button)
		}
	}
	return may
}

// rightTo returns the right that an action needs.
func rightTo(verb Verb, kind actions.Kind, ref Ref) access.Right {
	right := access.Right{Verb: "patch", Group: kind.Group, Resource: kind.Resource, Namespace: ref.Namespace, Name: ref.Name}
	switch verb {
	case Delete:
		right.Verb = "delete"
	case Rerun:
		right.Verb, right.Name = "create", ""
	case Run:
		runs := variant.Apache.RunsResource()
		if kind.Group == variant.Kubeflow.GroupVersion.Group {
			runs = variant.Kubeflow.RunsResource()
		}
		return access.Right{Verb: "create", Group: runs.Group, Resource: runs.Resource, Namespace: ref.Namespace}
	}
	return right
}

// read reads an object with the user's own identity.
func read(ctx context.Context, client dynamic.Interface, kind actions.Kind, ref Ref) (*actions.Subject, error) {
	found, err := kind.Get(ctx, client, ref.Namespace, ref.Name)
	if err != nil {
		return nil, err
	}
	view, err := overview.Read(found.Unstructured)
	if err != nil {
		return nil, err
	}
	return &actions.Subject{Object: found, View: view, Suggest: func(verb string) string {
		return "kubectl spark " + verb + " " + found.Reference() + " -n " + ref.Namespace
	}}, nil
}
