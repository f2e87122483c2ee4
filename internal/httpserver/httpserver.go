// Package httpserver serves HTTP or HTTPS in a Pod, with probes, and stops without losing requests. It also serves HTTP on a user's machine.
package httpserver

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.uber.org/zap"
	"golang.org/x/net/netutil"
	"golang.org/x/sync/errgroup"
	"k8s.io/utils/clock"
	"knative.dev/pkg/logging"
)

const (
	// notReadyPeriod is how long a stopping server still serves new requests, until all clients know that it is not ready.
	notReadyPeriod = 3 * time.Second
	// shutdownTimeout is how long the requests under way may then take.
	shutdownTimeout = 20 * time.Second
	// headerTimeout bounds the time until a request's header has arrived.
	headerTimeout = 10 * time.Second
	// requestTimeout bounds the time of a request and of its answer. Logs extend it while they are read.
	requestTimeout = time.Minute
	idleTimeout    = time.Minute
	// maxHeaderBytes bounds a header: tokens of large OIDC providers have some KiB.
	maxHeaderBytes = 48 << 10
	maxConnections = 512
	// kernelBuffer is how much the kernel holds that a client does not read yet. It counts as memory of the container, and would be some MiB.
	kernelBuffer = 64 << 10
)

// Options say where Serve serves.
type Options struct {
	// Name names the requests in traces.
	Name            string
	Port, ProbePort int
	// Others are what further ports serve, with the same certificate: each of them is an origin of its own for browsers.
	Others map[int]http.Handler
	// Certificate is a folder with tls.crt and tls.key. Serve serves HTTPS if they are there when it starts, HTTP if neither is, and fails
	// if one of them is missing.
	Certificate string
	// Ready reports whether requests can be answered; nil if that is always so.
	Ready func() bool
}

// Serve serves a handler until ctx ends, and probes at a port of their own.
func Serve(ctx context.Context, handler http.Handler, options Options) error {
	var stopping atomic.Bool
	servers := map[int]*http.Server{
		options.Port:      newServer(ctx, measured(handler, options.Name, options.Port)),
		options.ProbePort: newServer(ctx, probes(&stopping, options.Ready)),
	}
	var err error
	if servers[options.Port].TLSConfig, err = certificate(options.Certificate); err != nil {
		return err
	}
	for port, other := range options.Others {
		servers[port] = newServer(ctx, measured(other, options.Name, port))
		servers[port].TLSConfig = servers[options.Port].TLSConfig
	}
	logging.FromContext(ctx).Infow("serving", "port", options.Port, "https", servers[options.Port].TLSConfig != nil)
	group, ctx := errgroup.WithContext(ctx)
	for port, server := range servers {
		listener, err := net.Listen("tcp", fmt.Sprintf(":%d", port))
		if err != nil {
			return fmt.Errorf("serve: %w", err)
		}
		listener = netutil.LimitListener(slowReaders{listener}, maxConnections)
		group.Go(func() error { return serve(server, listener) })
		group.Go(func() error {
			<-ctx.Done()
			stopping.Store(true)
			<-clock.RealClock{}.After(notReadyPeriod)
			drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
			defer cancel()
			return server.Shutdown(drain)
		})
	}
	return group.Wait()
}

// localGrace is how long requests may take that are under way when a local server ends. Streams do not end by themselves.
const localGrace = time.Second

// ServeLocal serves handlers at listeners of the user's machine until ctx ends: without probes and metrics.
func ServeLocal(ctx context.Context, handlers map[net.Listener]http.Handler) error {
	group, ctx := errgroup.WithContext(ctx)
	for listener, handler := range handlers {
		server := newServer(ctx, handler)
		group.Go(func() error { return serve(server, netutil.LimitListener(listener, maxConnections)) })
		group.Go(func() error {
			<-ctx.Done()
			ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), localGrace)
			defer cancel()
			if server.Shutdown(ending) != nil {
				_ = server.Close() // it ends what is left
			}
			return nil
		})
	}
	return group.Wait()
}

// slowReaders is a listener of TCP on whose connections the kernel holds little for clients that read slowly.
type slowReaders struct{ net.Listener }

// Accept implements net.Listener.
func (l slowReaders) Accept() (net.Conn, error) {
	connection, err := l.Listener.Accept()
	if tcp, ok := connection.(*net.TCPConn); ok && err == nil {
		_ = tcp.SetWriteBuffer(kernelBuffer) // the client has left
	}
	return connection, err
}

func serve(server *http.Server, listener net.Listener) error {
	serve := server.Serve
	if server.TLSConfig != nil {
		serve = func(listener net.Listener) error { return server.ServeTLS(listener, "", "") }
	}
	if err := serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve: %w", err)
	}
	return nil
}

// measured returns a handler with metrics. Their attributes name the server, and not the Host header, which clients write: a metric has few series.
func measured(handler http.Handler, name string, port int, more ...otelhttp.Option) http.Handler {
	return otelhttp.NewHandler(handler, name, append(more, otelhttp.WithServerName(fmt.Sprintf("%s:%d", name, port)))...)
}

func newServer(ctx context.Context, handler http.Handler) *http.Server {
	return &http.Server{
		Handler: handler, ReadHeaderTimeout: headerTimeout, ReadTimeout: requestTimeout, WriteTimeout: requestTimeout, IdleTimeout: idleTimeout,
		MaxHeaderBytes: maxHeaderBytes, ErrorLog: zap.NewStdLog(logging.FromContext(ctx).Desugar()),
	}
}

func probes(stopping *atomic.Bool, ready func() bool) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		switch {
		case stopping.Load():
			http.Error(w, "stopping", http.StatusServiceUnavailable)
		case ready != nil && !ready():
			http.Error(w, "reading what runs", http.StatusServiceUnavailable)
		}
	})
	return mux
}

// isAbsent reports whether a folder has no file of a name. A link is there even if what it names is not.
func isAbsent(folder, name string) bool {
	_, err := os.Lstat(filepath.Join(folder, name))
	return errors.Is(err, fs.ErrNotExist)
}

// certificate returns the configuration of TLS; nil if there is neither file, since half a certificate is a mistake, and no wish for HTTP. The
// files are read for each connection, so that a renewed certificate is used at once.
func certificate(folder string) (*tls.Config, error) {
	load := func() (*tls.Certificate, error) {
		pair, err := tls.LoadX509KeyPair(filepath.Join(folder, "tls.crt"), filepath.Join(folder, "tls.key"))
		return &pair, err
	}
	_, err := load()
	switch {
	case folder == "" || errors.Is(err, fs.ErrNotExist) && isAbsent(folder, "tls.crt") && isAbsent(folder, "tls.key"):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read the certificate in %s: %w", folder, err)
	}
	return &tls.Config{
		MinVersion:     tls.VersionTLS12,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return load() },
	}, nil
}
