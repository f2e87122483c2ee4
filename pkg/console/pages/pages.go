package pages

import (
	"errors"
	"net/http"
	"strings"

	"go.uber.org/zap"
	"k8s.io/utils/clock"

	"github.com/firesteel-dev/firesteel/pkg/access"
	"github.com/firesteel-dev/firesteel/pkg/console/api"
	"github.com/firesteel-dev/firesteel/pkg/console/live"
	"github.com/firesteel-dev/firesteel/pkg/console/pages/assets"
)

// Options are what the pages need.
type Options struct {
	Source  Source
	Viewers Viewers
	// Prefix returns the path of the console's root, without a slash at its end. Requests arrive without it.
	Prefix func() string
	// SparkUI returns the path of the link to Spark's UI of an application, below the prefix, and what the user of a request should know of it; both are empty
	// if the console serves none. over reports whether its driver is gone. It may be nil.
	SparkUI func(r *http.Request, ref live.Ref, over bool) (path, note string)
	// Note returns a sentence that each page ends with, such as what is left out; empty for none. It may be nil.
	Note   func() string
	Clock  clock.Clock
	Logger *zap.SugaredLogger
}

// Server serves the pages.
type Server struct{ options Options }

// New returns a server of the pages.
func New(options Options) *Server { return &Server{options: options} }

// view is a request for a page.
type view struct {
	*http.Request
	w      http.ResponseWriter
	viewer Viewer
	see    live.Visible
}

// routes are the pages, by their paths.
func (s *Server) routes() map[string]func(*view) error {
	return map[string]func(*view) error{
		"/{$}":          s.overview,
		"/applications": s.list,
		"/applications/{namespace}/{resource}/{name}":     s.application,
		"/applications/{namespace}/{resource}/{name}/log": s.log,
		"/archive":   s.archive,
		"/schedules": s.schedules,
		"/schedules/{namespace}/{resource}/{name}": s.schedule,
		"/clusters":                    s.clusters,
		"/clusters/{namespace}/{name}": s.cluster,
		"/clusters/{namespace}/{name}/log": func(v *view) error {
			v.SetPathValue("resource", api.Clusters)
			return s.log(v)
		},
		"/compare":   s.compare,
		"/stream":    s.stream,
		"/{path...}": func(*view) error { return errNotFound },
	}
}

// Handler returns the handler of the pages. Who asks is known before: Viewers does not sign in.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	for path, serve := range s.routes() {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) { s.handle(w, r, serve) })
	}
	return mux
}

// Assets returns the handler of the style sheets, scripts, fonts and icons, which need no sign-in. Their path is /assets/.
func (s *Server) Assets() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /assets/{hash}/{file}", assets.Serve)
	return mux
}

func (s *Server) handle(w http.ResponseWriter, r *http.Request, serve func(*view) error) {
	viewer, err := s.options.Viewers(r)
	v := &view{Request: r, w: w, viewer: viewer}
	if err == nil {
		v.see, err = viewer.Visible(r.Context())
	}
	if err == nil {
		err = serve(v)
	}
	if err != nil && r.Context().Err() == nil {
		s.fail(v, err)
	}
}

// errNotFound is the answer about what there is not, and about what the viewer may not see: both are the same.
var errNotFound = errors.New("There is nothing at this address, or you may not see it.") //nolint:revive,staticcheck // a sentence of a page

// refOf returns the object of a path.
func (v *view) refOf() live.Ref {
	return live.Ref{Namespace: v.PathValue("namespace"), Resource: v.PathValue("resource"), Name: v.PathValue("name")}
}

// mayGet returns errNotFound unless the viewer may read an object, and reports whether the Pods of its namespace may be listed, too.
func (v *view) mayGet(ref live.Ref) (pods bool, err error) {
	plural, group, ok := strings.Cut(ref.Resource, ".")
	if !ok {
		return false, errNotFound
	}
	right := access.Right{Verb: "get", Group: group, Resource: plural, Namespace: ref.Namespace, Name: ref.Name}
	may, err := v.viewer.May(v.Context(), right)
	if err != nil {
		return false, err
	}
	if !may {
		return false, errNotFound
	}
	return v.viewer.May(v.Context(), access.Right{Verb: "list", Resource: "pods", Namespace: ref.Namespace})
}
