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

// PortName is the name of a master's port for its page, in its Service.
const PortName = "web"

// Master is where a master is to be found.
type Master struct {
	Namespace string
	// Service is the headless Service that the master is behind.
	Service string
	// Port is the one that the master listens on: a headless Service translates none.
	Port int32
}

// connectTimeout bounds the time that a master which does not answer keeps others waiting.
const connectTimeout = 2 * time.Second

// Direct makes a reader that asks the masters themselves, as is possible within the Kubernetes cluster. It carries no
// credentials and heeds no proxy of the process.
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

// ThroughAPIServer makes a reader that has the API server ask the masters, as whoever is outside of the Kubernetes
// cluster must. The credentials are for the API server, which passes none on.
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
