package kube

import (
	"errors"
	"net/http"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
)

// WithFreshWatches has the informers that are made from a configuration list anew after the API server was away.
//
// Without it they resume their watches at the last resource version that they know. An API server that was restored from an
// older backup gives that version again later, for something else, and tells nothing until then, without any error.
func WithFreshWatches(config *rest.Config) {
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return freshWatches{next} })
}

type freshWatches struct{ next http.RoundTripper }

// RoundTrip hides from a watch that its connection was refused: client-go resumes a watch after that error, and lists anew
// after any other.
func (f freshWatches) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := f.next.RoundTrip(request)
	if err != nil && utilnet.IsConnectionRefused(err) && request.URL.Query().Has("watch") {
		return response, errors.New("watch is not resumed: " + err.Error()) // wrapped it would be found
	}
	return response, err
}

// WrappedRoundTripper is for those who look for the connection.
func (f freshWatches) WrappedRoundTripper() http.RoundTripper { return f.next }
