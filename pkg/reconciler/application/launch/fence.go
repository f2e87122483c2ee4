package launch

import (
	"net/http"
	"time"

	"k8s.io/client-go/rest"
)

// fenceTimeout is how long after its fence was written, or read live, a launch may create. Beyond it another replica may
// have taken the application over and moved on: it is the renew deadline of a leader's lease. The launch is resumed
// then, with another look.
const fenceTimeout = 10 * time.Second

// WithoutCreateRetries keeps the clients made from a configuration from trying a create again by themselves when the
// server is too busy: seconds may pass between the tries, and a driver of an attempt that is long over be created.
// The reconciler tries again itself, once it has looked.
func WithoutCreateRetries(config *rest.Config) {
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return noCreateRetry{next} })
}

type noCreateRetry struct{ next http.RoundTripper }

// RoundTrip drops the header that has the client wait and try again.
func (o noCreateRetry) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := o.next.RoundTrip(request)
	if err == nil && request.Method == http.MethodPost {
		response.Header.Del("Retry-After")
	}
	return response, err
}
