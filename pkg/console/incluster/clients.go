package incluster

import (
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/firesteel-dev/firesteel/pkg/console/session"
)

// userAgent is what the audit log of the API server has beside the user.
const userAgent = "firesteel-console"

// Clients make requests with users' own tokens, and with nothing of the console's. For users of a proxy, who have no token, the console impersonates
// them. It is a site.Clients.
type Clients struct {
	anonymous, own *rest.Config
	proxy          *session.Proxy
}

// NewClients returns Clients of the API server of a configuration. proxy is that of Users.
func NewClients(cluster *rest.Config, proxy *session.Proxy) *Clients {
	clients := &Clients{rest.AnonymousClientConfig(cluster), rest.CopyConfig(cluster), proxy}
	for _, config := range []*rest.Config{clients.anonymous, clients.own} {
		config.QPS, config.UserAgent = -1, userAgent // no limit of our own: the API server has one
	}
	return clients
}

// Config returns the connection of a user.
func (c *Clients) Config(s *session.Session) *rest.Config {
	if claimed, ofProxy, err := c.proxy.Identity(s.Token); ofProxy && err == nil {
		config := rest.CopyConfig(c.own)
		config.Impersonate = rest.ImpersonationConfig{UserName: claimed.User, Groups: claimed.Groups}
		return config
	}
	config := rest.CopyConfig(c.anonymous)
	config.BearerToken = s.Token // the API server does not know a credential that has ended
	return config
}

// Of returns the client of a user.
func (c *Clients) Of(s *session.Session) (dynamic.Interface, error) {
	return dynamic.NewForConfig(c.Config(s))
}
