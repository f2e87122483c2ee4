package masterui

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"k8s.io/client-go/rest"
)

// PortName is the name of the port of the master's page in its Service.
const PortName = "web"

// Master is the address of a master.
type Master struct {
	Namespace string
	// Service is the master's headless Service.
	Service string
	// Port is the port that the master listens on: a headless Service does not map ports.
	Port int32
}

// connectTimeout bounds how long a master that does not answer delays others.
const connectTimeout = 2 * time.Second

// Direct returns a reader that connects to the masters, as is possible inside the Kubernetes cluster. It sends no
// credentials and ignores the proxy settings of the process.
func Direct() Reader {
	return Reader{
		Transport: &http.Transport{
			DialContext:            (&net.Dialer{Timeout: connectTimeout}).DialContext,
			MaxIdleConnsPerHost:    1,
			IdleConnTimeout:        30 * time.Second,
			MaxResponseHeaderBytes: 64 << 10,
		},
		Address: func(m Master) *url.URL {
			host := net.JoinHostPort(m.Service+"."+m.Namespace+".svc", strconv.Itoa(int(m.Port)))
			return &url.URL{Scheme: "http", Host: host, Path: "/json/"}
		},
	}
}

// ThroughAPIServer returns a reader that uses the API server's proxy, as is necessary outside the Kubernetes cluster.
// The credentials are for the API server, which does not forward them.
func ThroughAPIServer(config *rest.Config) (Reader, error) {
	transport, err := rest.TransportFor(config)
	if err != nil {
		return Reader{}, fmt.Errorf("transport to the API server: %w", err)
	}
	server, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return Reader{}, fmt.Errorf("address of the API server: %w", err)
	}
	return Reader{
		Transport: transport,
		Address: func(m Master) *url.URL {
			return server.JoinPath("api", "v1", "namespaces", m.Namespace, "services", m.Service+":"+PortName, "proxy", "json/")
		},
	}, nil
}
