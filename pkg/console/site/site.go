package site

import (
	"context"
	"net/http"
	"strings"

	"go.uber.org/zap"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/firesteel-dev/firesteel/pkg/access"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/console/act"
	"github.com/firesteel-dev/firesteel/pkg/console/api"
	"github.com/firesteel-dev/firesteel/pkg/console/live"
	"github.com/firesteel-dev/firesteel/pkg/console/pages"
	"github.com/firesteel-dev/firesteel/pkg/console/session"
	"github.com/firesteel-dev/firesteel/pkg/console/sparkui"
	"github.com/firesteel-dev/firesteel/pkg/console/visible"
)

// Clients make requests to the API server with a user's own identity.
type Clients interface {
	act.Clients
	// Config returns the connection of a user.
	Config(s *session.Session) *rest.Config
}

// Options are what the site is made of.
type Options struct {
	// Source is what runs, and Views what users may see of it.
	Source  pages.Source
	Views   *visible.Views
	Clients Clients
	// Settings returns the settings of the installation. After an error, plans are made with those of a fresh installation, and say so.
	Settings func(ctx context.Context) (*config.Config, error)
	// Actions reports whether users may act from the pages, and end jobs from the UIs of drivers.
	Actions func() bool
	// Note is that of pages.Options.
	Note func() string
	// Drivers know where the UIs of drivers are, and SparkUIs returns the origin at which they are served; empty if they are not.
	Drivers  sparkui.Drivers
	SparkUIs func() string
	// HistoryServer returns the address of Spark's History Server; empty if there is none.
	HistoryServer func() string
	// Archived reports whether there is an archive.
	Archived func() bool
	// Forward is that of sparkui.Options.
	Forward sparkui.Forward
	// Address returns the address by which browsers reach the console; empty if that is not known. Its path is the prefix of all pages.
	Address func() string
	Clock   clock.Clock
	Logger  *zap.SugaredLogger
}

// Site serves the console's pages.
type Site struct {
	*pages.Server
	options Options
	actions *act.Actions
	// api is the handler of the API, by which the pages read the archive.
	api   http.Handler
	plans *planSlots
}

// New returns a site. It shows the pages of its sessions, too: it is a session.Pages.
func New(options Options) *Site {
	s := &Site{options: options, plans: newPlanSlots(maxPlans)}
	prefix := func() string { return session.Prefix(options.Address()) }
	s.actions = act.New(act.Options{
		Clients: options.Clients, Pages: s, Allowed: options.Actions, Prefix: prefix, Clock: options.Clock, Logger: options.Logger,
	})
	s.Server = pages.New(pages.Options{
		Source: options.Source, Viewers: s.viewer, Prefix: prefix, SparkUI: s.sparkUI, Note: options.Note, Clock: options.Clock,
		Logger: options.Logger,
	})
	return s
}

// sparkUI is that of pages.Options.
func (s *Site) sparkUI(r *http.Request, ref live.Ref, over bool) (path, note string) {
	address := s.options.SparkUIs()
	if address == "" || over && s.options.HistoryServer() == "" {
		return "", ""
	}
	if sparkui.IsLocal(address) && isSafari(r.UserAgent()) {
		note = "Safari may not find its address. Use Chrome, Edge or Firefox"
		if !over {
			note += ", or kubectl spark ui " + ref.Resource + "/" + ref.Name + " -n " + ref.Namespace
		}
		note += "."
	}
	return sparkui.Link(ref.Namespace, ref.Resource, ref.Name), note
}

// isSafari reports whether a browser is Safari: others have its name, too.
func isSafari(agent string) bool {
	return strings.Contains(agent, " Version/") && strings.Contains(agent, " Safari/") && !strings.Contains(agent, "Chrom")
}

// SignIn writes the form with which users sign in.
func (s *Site) SignIn(w http.ResponseWriter, r *http.Request, status int, form session.Form) {
	s.Server.SignIn(w, r, status, pages.SignIn(form))
}

// viewer returns the user of a request that has a session.
func (s *Site) viewer(r *http.Request) (pages.Viewer, error) {
	user := session.Of(r.Context())
	if user == nil {
		return nil, access.ErrUnauthenticated
	}
	return &viewer{session: user, site: s}, nil
}

// Handlers is called once, before anything is served. It returns the handler of all paths of the console's origin, the pages and the API, and that of the origin of the UIs of drivers.
func (s *Site) Handlers(sessions *session.Sessions, ofAPI http.Handler) (ofPages, ofSparkUIs http.Handler) {
	s.api = ofAPI
	uis := sparkui.New(sparkui.Options{
		Key: sessions.Key, Users: sessions.Users, Drivers: s.options.Drivers, Histories: s, HistoryServer: s.options.HistoryServer, Runs: s, Pages: s,
		Actions: s.options.Actions, Address: s.options.SparkUIs, Forward: s.options.Forward, Clock: s.options.Clock, Logger: s.options.Logger,
	})
	mux := http.NewServeMux()
	mux.Handle(api.Prefix+"/", ofAPI)
	mux.Handle(sparkui.SparkAPI+"/", uis.API(sessions))
	mux.Handle("/assets/", s.Assets())
	mux.Handle("/sign-in", sessions.SignIn())
	mux.Handle("/sign-out", sessions.Require(sessions.SignOut()))
	mux.Handle("POST /actions/{verb}", sessions.Require(s.actions.Handler()))
	mux.Handle("GET /spark-ui/{namespace}/{resource}/{name}", sessions.Require(uis.Open()))
	mux.Handle("/", sessions.Require(s.Server.Handler()))
	return session.StripPrefix(s.options.Address, session.Headers(mux)), uis.Handler()
}
