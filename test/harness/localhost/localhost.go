// Package localhost leads HTTP requests for names below localhost to this machine, as browsers do.
package localhost

import (
	"context"
	"net"
	"net/http"
	"strings"
)

// Transport returns a transport of HTTP that reaches this machine by each name below localhost.
func Transport() *http.Transport {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		if host, port, err := net.SplitHostPort(address); err == nil && strings.HasSuffix(host, ".localhost") {
			address = net.JoinHostPort("127.0.0.1", port)
		}
		return (&net.Dialer{}).DialContext(ctx, network, address)
	}
	return transport
}
