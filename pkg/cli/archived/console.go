package archived

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"k8s.io/client-go/rest"

	"github.com/firesteel-dev/firesteel/pkg/console/api"
)

// direct returns a connection to an address, with the token that the kubeconfig has for the API server.
func direct(cluster *rest.Config, address *url.URL) (*api.Client, error) {
	config := tokenOf(cluster)
	config.Host = address.String()
	config.TLSClientConfig = rest.TLSClientConfig{} // the console has a certificate that this machine trusts
	config.Proxy = nil
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) {
			if request.Header.Get("Authorization") == "" {
				return nil, api.ErrNoToken
			}
			return next.RoundTrip(request)
		})
	})
	return client(config, address)
}

// tokenOf returns the part of a configuration that logs in by a token.
func tokenOf(cluster *rest.Config) *rest.Config {
	config := rest.CopyConfig(cluster)
	config.Username, config.Password = "", ""
	config.Impersonate = rest.ImpersonationConfig{}
	return config
}

// byProxy returns a connection by the API server's proxy of the Service. The API server removes the header with the token, so another one has it.
func byProxy(cluster *rest.Config, namespace string) (*api.Client, error) {
	server, _, err := rest.DefaultServerUrlFor(cluster)
	if err != nil {
		return nil, fmt.Errorf("the address of the API server: %w", err)
	}
	config := rest.CopyConfig(cluster)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) {
			token := request.Header.Get("Authorization")
			if !strings.HasPrefix(token, "Bearer ") {
				return nil, api.ErrNoToken
			}
			request = request.Clone(request.Context())
			request.Header.Set(api.TokenHeader, token)
			return next.RoundTrip(request)
		})
	})
	return client(config, server.JoinPath("api/v1/namespaces", namespace, "services", proxied, "proxy"))
}

func client(config *rest.Config, base *url.URL) (*api.Client, error) {
	connections, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	// Nobody else gets the token.
	connections.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &api.Client{Base: base, HTTP: connections}, nil
}

// roundTripper is a function that sends requests.
type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip sends a request.
func (r roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return r(request) }
