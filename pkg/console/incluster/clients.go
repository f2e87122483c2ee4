package incluster

import (
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/firesteel-dev/firesteel/pkg/console/session"
)

// userAgent is what the audit log of the API server has beside the user.
const userAgent = "firesteel-console"

// Clients make requests with users' own tokens, and with nothing of the console's. It is a site.Clients.
type Clients struct{ cluster *rest.Config }

// NewClients returns Clients of the API server of a configuration.
func NewClients(cluster *rest.Config) *Clients {
	config := rest.AnonymousClientConfig(cluster)
	config.QPS, config.UserAgent = -1, userAgent // no limit of our own: the API server has one
	return &Clients{config}
}

// Config returns the connection of a user.
func (c *Clients) Config(s *session.Session) *rest.Config {
	config := rest.CopyConfig(c.cluster)
	config.BearerToken = s.Token
	return config
}

// Of returns the client of a user.
func (c *Clients) Of(s *session.Session) (dynamic.Interface, error) {
	return dynamic.NewForConfig(c.Config(s))
}
