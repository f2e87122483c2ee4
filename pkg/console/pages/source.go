package pages

import (
	"context"
	"io"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/access"
	"github.com/firesteel-dev/firesteel/pkg/console/act"
	"github.com/firesteel-dev/firesteel/pkg/console/api"
	"github.com/firesteel-dev/firesteel/pkg/console/live"
)

// Source is what the pages know of the cluster. *live.Live is one.
type Source interface {
	// StaleSince returns since when the API server does not answer; zero if it does.
	StaleSince() time.Time
	// HasSynced reports whether all that is followed was read once.
	HasSynced() bool
	Page(see live.Visible, query live.Query) live.Page
	// Overview counts what ended since an instant.
	Overview(see live.Visible, since time.Time) live.Overview
	// Details returns an application; pods reports whether the viewer may list Pods in its namespace.
	Details(ref live.Ref, pods bool) (*live.Details, bool)
	Schedule(see live.Visible, ref live.Ref) (*live.ScheduleDetails, bool)
	Calendar(see live.Visible, from, until time.Time) []live.Run
	Cluster(see live.Visible, ref live.Ref, pods bool) (*live.ClusterDetails, bool)
	// Settings returns the settings that rows depend on.
	Settings() live.Settings
	// Follow calls a function with what changed after a cursor, until the context ends or the function fails.
	Follow(ctx context.Context, see func(context.Context) (live.Visible, error), cursor uint64, each func(live.Changes) error) error
}

// Viewer is a user who looks at a page.
type Viewer interface {
	Name() string
	// CSRF returns a token for a form.
	CSRF() string
	// CanSignOut reports whether the session is one that the viewer may end.
	CanSignOut() bool
	// Check returns an error once the session is over.
	Check(ctx context.Context) error
	// Visible returns what the viewer may see.
	Visible(ctx context.Context) (live.Visible, error)
	// May reports whether the viewer has a right.
	May(ctx context.Context, right access.Right) (bool, error)
	// Buttons returns the actions on an object that the viewer may do.
	Buttons(ctx context.Context, ref live.Ref, status act.Status) []act.Button
	// Offer says what an action on an object will do. Its errors are Refusals.
	Offer(ctx context.Context, ref live.Ref, verb act.Verb) (*act.Offer, error)
	// Identity returns what reads with the viewer's own identity.
	Identity() (Identity, error)
	// Archive returns what reads the archive with the viewer's rights; nil if the installation has no archive.
	Archive() Archive
}

// Archive reads what is left of applications. Its errors are those of package api. *api.Client is one.
type Archive interface {
	// List returns a page of the applications of a namespace. token is that of the page before; empty for the first one.
	List(ctx context.Context, namespace string, filter api.Filter, token string) (*api.Applications, error)
	// Named returns the applications that had a name, the newest first.
	Named(ctx context.Context, namespace, resource, name string) (*api.Applications, error)
	// Details returns an application with its attempts.
	Details(ctx context.Context, application *api.Application) (*api.Details, error)
	// Object reads an object of an attempt into a value.
	Object(ctx context.Context, application *api.Application, attempt int64, file string, into any) error
	// Log opens a log of an attempt.
	Log(ctx context.Context, application *api.Application, attempt int64, log api.Log, options api.LogOptions) (io.ReadCloser, error)
}

// Identity reads of the API server what the pages do not keep, with the rights of a viewer.
type Identity interface {
	// Object returns an object as it is now.
	Object(ctx context.Context, ref live.Ref, version string) (*unstructured.Unstructured, error)
	// Events returns the Kubernetes Events about an object.
	Events(ctx context.Context, namespace, name string, uid types.UID) ([]corev1.Event, error)
	// Plan compares what runs with what the application and the settings make.
	Plan(ctx context.Context, ref live.Ref, version string) (*Plan, error)
	// Log opens the log of a Pod.
	Log(ctx context.Context, namespace, pod string, options *corev1.PodLogOptions) (io.ReadCloser, error)
}

// Viewers returns who sent a request. The request is that of a user who is signed in.
type Viewers func(r *http.Request) (Viewer, error)
