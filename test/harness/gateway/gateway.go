// Package gateway stands between Firesteel's processes and the API server, and fails as networks and overloaded
// servers do.
package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"k8s.io/client-go/rest"

	"github.com/firesteel-dev/firesteel/test/harness/pause"
	"github.com/firesteel-dev/firesteel/test/harness/rng"
)

// Rates are the rates of faults.
type Rates struct {
	// Write and Read are the shares of requests that fail, TooOld that of the watches that cannot be resumed.
	Write, Read, TooOld float64
	// WatchLife is how long a watch mostly lasts.
	WatchLife time.Duration
	// Stale is the share of a watch's events that come late, and all after them.
	Stale float64
	// Delay is the longest that anything is delayed.
	Delay time.Duration
}

// Gateway forwards requests to the API server, credentials and all.
type Gateway struct {
	server *httptest.Server
	proxy  *httputil.ReverseProxy
	caFile string
	rates  Rates
	faults []fault
	rng    *rng.Rand
	// count is called at each fault.
	count func(fault string)

	stormy atomic.Bool
	// closed counts the outages that last.
	closed atomic.Int32
}

// silence keeps quiet about what the gateway does on purpose.
var silence = log.New(io.Discard, "", 0)

// New makes a gateway to the API server that a config leads to. It begins calm.
func New(config *rest.Config, caFile string, rates Rates, random *rng.Rand, count func(fault string)) (*Gateway, error) {
	target, err := url.Parse(config.Host)
	if err != nil {
		return nil, err
	}
	transport, err := rest.TransportFor(&rest.Config{Host: config.Host, TLSClientConfig: config.TLSClientConfig})
	if err != nil {
		return nil, err
	}
	g := &Gateway{caFile: caFile, rates: rates, faults: faults, rng: random, count: count}
	g.proxy = &httputil.ReverseProxy{
		Transport:     transport,
		FlushInterval: -1,
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target) },
		ModifyResponse: func(response *http.Response) error {
			if isWatch(response.Request) && response.StatusCode == http.StatusOK {
				response.Body = g.frail(response.Body)
			}
			return nil
		},
		ErrorLog:     silence,
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
	g.server = httptest.NewUnstartedServer(g)
	g.server.EnableHTTP2, g.server.Config.ErrorLog = true, silence
	g.server.StartTLS()
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: g.server.Certificate().Raw})
	return g, os.WriteFile(caFile, certificate, 0o600)
}

// Close ends the gateway and all connections.
func (g *Gateway) Close() {
	g.stormy.Store(false)
	g.Block()
	g.server.Close()
}

// Config returns the configuration that connects a user with a token through the gateway.
func (g *Gateway) Config(token string) *rest.Config {
	return &rest.Config{Host: g.server.URL, BearerToken: token, TLSClientConfig: rest.TLSClientConfig{CAFile: g.caFile}}
}

// Storm has requests fail from now on.
func (g *Gateway) Storm() { g.stormy.Store(true) }

// Calm has requests fail no more.
func (g *Gateway) Calm() { g.stormy.Store(false) }

// Outage closes all connections, and refuses new ones for a time.
func (g *Gateway) Outage(ctx context.Context, length time.Duration) {
	g.count("api outage")
	defer g.Block()()
	_ = pause.For(ctx, length) // an interruption ends the wait alone
}

// Block closes all connections, and refuses new ones until open is called.
func (g *Gateway) Block() (open func()) {
	g.closed.Add(1)
	g.server.CloseClientConnections()
	return func() { g.closed.Add(-1) }
}

// ServeHTTP forwards a request, or has it fail.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	rate := g.rates.Read
	switch {
	case isWrite(request):
		rate = g.rates.Write
	case isResumed(request):
		rate = g.rates.TooOld
	}
	switch {
	case g.closed.Load() > 0:
		panic(http.ErrAbortHandler)
	case !g.stormy.Load(), isKubernetesEvent(request), !g.rng.Chance(rate):
		g.proxy.ServeHTTP(w, request)
	default:
		fault := rng.Pick(g.rng, g.faults, func(f fault) float64 {
			if f.of(request) {
				return f.weight
			}
			return 0
		})
		g.count("api " + fault.name)
		fault.serve(g, w, request)
	}
}

func isWrite(request *http.Request) bool { return request.Method != http.MethodGet }

func isWatch(request *http.Request) bool {
	watch := request.URL.Query().Get("watch")
	return watch == "true" || watch == "1"
}

// isResumed reports whether a watch continues an earlier one.
func isResumed(request *http.Request) bool {
	query := request.URL.Query()
	return isWatch(request) && query.Get("resourceVersion") != "" && query.Get("sendInitialEvents") == ""
}

// isKubernetesEvent reports whether a request writes a Kubernetes Event, which may be lost.
func isKubernetesEvent(request *http.Request) bool {
	return strings.Contains(request.URL.Path, "/events")
}

// forget carries a request out and loses the answer. The client may be gone already.
func (g *Gateway) forget(request *http.Request) {
	g.proxy.ServeHTTP(&discarded{header: http.Header{}}, request.WithContext(context.WithoutCancel(request.Context())))
}

// keep reads the body of a request, which cannot be read when the client is gone. It returns false if it is already.
func keep(request *http.Request) bool {
	body, err := io.ReadAll(request.Body)
	request.Body = io.NopCloser(bytes.NewReader(body))
	return err == nil
}

// discarded is a response that no client reads.
type discarded struct{ header http.Header }

func (d *discarded) Header() http.Header            { return d.header }
func (d *discarded) Write(body []byte) (int, error) { return len(body), nil }
func (d *discarded) WriteHeader(int)                {}

// answer is a refusal in the API server's form.
func answer(w http.ResponseWriter, status any, code int) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(status)
}
