package incluster

import (
	"k8s.io/client-go/rest"

	"github.com/firesteel-dev/firesteel/pkg/console/session"
)

// userAgent is what the audit log of the API server has beside the user.
const userAgent = "firesteel-console"

// ConnectionOf returns the connections of users to an API server: with their own tokens, and with nothing of the console's.
func ConnectionOf(cluster *rest.Config) func(*session.Session) *rest.Config {
	anonymous := rest.AnonymousClientConfig(cluster)
	anonymous.QPS, anonymous.UserAgent = -1, userAgent // no limit of our own: the API server has one
	return func(s *session.Session) *rest.Config {
		connection := rest.CopyConfig(anonymous)
		connection.BearerToken = s.Token
		return connection
	}
}
