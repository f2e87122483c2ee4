package site

import (
	"net/http"

	"go.uber.org/zap"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/firesteel-dev/firesteel/pkg/access"
	"github.com/firesteel-dev/firesteel/pkg/console/api"
	"github.com/firesteel-dev/firesteel/pkg/console/pages"
	"github.com/firesteel-dev/firesteel/pkg/console/session"
	"github.com/firesteel-dev/firesteel/pkg/console/visible"
)

// Options are what the site is made of.
type Options struct {
	// Source is what runs, and Views what users may see of it.
	Source pages.Source
	Views  *visible.Views
	// Connection returns the connection of a user to the API server.
	Connection func(*session.Session) *rest.Config
	// Address returns the address by which browsers reach the console; empty if that is not known. Its path is the prefix of all pages.
	Address func() string
	// Price returns what an admin charges; nil for nothing.
	Price  func() pages.Price
	Clock  clock.Clock
	Logger *zap.SugaredLogger
}

// Site serves the console's pages.
type Site struct {
	*pages.Server
	options Options
}

// New returns a site. It shows the pages of its sessions, too: it is a session.Pages.
func New(options Options) *Site {
	s := &Site{options: options}
	s.Server = pages.New(pages.Options{
		Source: options.Source, Viewers: s.viewer, Prefix: func() string { return session.Prefix(options.Address()) }, Price: options.Price, Clock: options.Clock,
		Logger: options.Logger,
	})
	return s
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

// Handler returns the handler of all paths: the pages, and the API of the console.
func (s *Site) Handler(sessions *session.Sessions, ofAPI http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.Handle(api.Prefix+"/", ofAPI)
	mux.Handle("/assets/", s.Assets())
	mux.Handle("/sign-in", sessions.SignIn())
	mux.Handle("/sign-out", sessions.Require(sessions.SignOut()))
	mux.Handle("/", sessions.Require(s.Server.Handler()))
	return session.StripPrefix(s.options.Address, session.Headers(mux))
}
