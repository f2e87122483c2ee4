package function

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/kelseyhightower/envconfig"
	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"
	"knative.dev/pkg/logging"

	"github.com/firesteel-dev/firesteel/pkg/events"
	"github.com/firesteel-dev/firesteel/pkg/redact/redactlog"
)

// Handle serves a handler until the process gets SIGTERM or an interrupt, and then stops like Serve. It listens at $PORT, by
// default 8080, and serves probes at $PROBE_PORT. It logs JSON lines at $LOG_LEVEL (debug, info, ...), by default info. If it cannot
// serve, it logs the error and ends the process.
func Handle(handler events.Handler) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	err := runHandler(ctx, handler)
	stop()
	if err != nil {
		log.Fatal(err)
	}
}

func runHandler(ctx context.Context, handler events.Handler) error {
	var env struct {
		Port      int             `envconfig:"PORT" default:"8080"`
		ProbePort int             `envconfig:"PROBE_PORT"`
		LogLevel  zap.AtomicLevel `envconfig:"LOG_LEVEL" default:"info"`
	}
	if err := envconfig.Process("", &env); err != nil {
		return err
	}
	config := zap.NewProductionConfig()
	config.Level = env.LogLevel
	logger, err := config.Build(redactlog.Option())
	if err != nil {
		return fmt.Errorf("create logger: %w", err)
	}
	return Serve(logging.WithLogger(ctx, logger.Sugar()), env.Port, handler, WithProbes(env.ProbePort))
}

const (
	// notReadyPeriod is how long a stopping server still accepts new events, until all senders know that it is not ready. The period
	// is fixed. Knative's Drainer waits until no request has arrived for a while, which a busy Broker would never let happen.
	notReadyPeriod = 3 * time.Second
	// shutdownTimeout is how long the accepted events may then take. Both periods together are below the 30 s that Kubernetes gives
	// a Pod.
	shutdownTimeout = 20 * time.Second
	// readHeaderTimeout bounds the time until a request's header has arrived, and readTimeout the time until all of it has.
	readHeaderTimeout = 5 * time.Second
	readTimeout       = 15 * time.Second
	// writeTimeout bounds the time from a request's header to the end of its response. It includes the body's arrival, the wait for
	// a slot, and the handler's call.
	writeTimeout = 90 * time.Second
	// idleTimeout is how long a connection stays open between two requests.
	idleTimeout = 2 * time.Minute
	// maxHeaderBytes bounds the size of a request's header.
	maxHeaderBytes = 32 << 10
)

// Option configures Serve.
type Option func(*options)

type options struct {
	probePort      int
	authenticate   Authenticate
	notReadyPeriod time.Duration
}

// WithProbes serves GET /healthz and /readyz at a separate port, so that network policies can tell probes from events. With port
// zero, they are served at the port for events.
func WithProbes(port int) Option { return func(o *options) { o.probePort = port } }

// WithAuthentication accepts events only from senders for which authenticate returns nil.
func WithAuthentication(authenticate Authenticate) Option {
	return func(o *options) { o.authenticate = authenticate }
}

// Serve serves a handler at a port until ctx ends. POST accepts events like NewReceiver. GET /healthz answers 200. GET /readyz
// answers 200 until ctx ends, and 503 after that. When ctx has ended, Serve accepts new events for 3 s, and then waits up to 20 s
// for the accepted ones. It logs to the context's logger. Handlers get the values of ctx, but their context does not end with it.
//
// A request must arrive within 15 s. Serve keeps at most 1,024 connections. Beyond that, it closes the connection for which it has
// waited longest. So a client that opens connections and sends nothing does not keep others from being served.
func Serve(ctx context.Context, port int, handler events.Handler, opts ...Option) error {
	o := options{notReadyPeriod: notReadyPeriod}
	for _, option := range opts {
		option(&o)
	}
	listener, err := listen(port)
	if err != nil {
		return err
	}
	var probes net.Listener
	if o.probePort != 0 {
		if probes, err = listen(o.probePort); err != nil {
			return errors.Join(err, listener.Close())
		}
	}
	return serve(ctx, listener, probes, handler, o)
}

func listen(port int) (net.Listener, error) {
	listener, err := net.Listen("tcp", fmt.Sprintf(":%d", port))
	if err != nil {
		return nil, fmt.Errorf("serve: %w", err)
	}
	return listener, nil
}

// serve serves events, and also probes if these have no listener of their own.
func serve(ctx context.Context, listener, probes net.Listener, handler events.Handler, o options) error {
	receiver, err := newReceiver(handler, o.authenticate)
	if err != nil {
		return err
	}
	var stopping atomic.Bool
	requestContext := context.WithoutCancel(ctx)
	mux := http.NewServeMux()
	mux.Handle("POST /", receiver)
	servers := map[net.Listener]*http.Server{listener: newServer(requestContext, mux)}
	if probes != nil {
		mux = http.NewServeMux()
		servers[probes] = newServer(requestContext, mux)
	}
	handleProbes(mux, &stopping)
	logging.FromContext(ctx).Infow("serving events", "address", listener.Addr().String())
	group, ctx := errgroup.WithContext(ctx)
	for listener, server := range servers {
		group.Go(func() error {
			if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
				return fmt.Errorf("serve: %w", err)
			}
			return nil
		})
		group.Go(func() error {
			<-ctx.Done()
			stopping.Store(true)
			time.Sleep(o.notReadyPeriod)
			drain, cancel := context.WithTimeout(requestContext, shutdownTimeout)
			defer cancel()
			return server.Shutdown(drain)
		})
	}
	return group.Wait()
}

// newServer creates a server whose requests get the values of ctx.
func newServer(ctx context.Context, handler http.Handler) *http.Server {
	connections := newConnectionLimiter(maxConnections)
	return &http.Server{
		Handler:           handler,
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ConnContext:       connections.context,
		ConnState:         connections.stateChanged,
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          zap.NewStdLog(logging.FromContext(ctx).Desugar()),
	}
}

func handleProbes(mux *http.ServeMux, stopping *atomic.Bool) {
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if stopping.Load() {
			http.Error(w, "stopping", http.StatusServiceUnavailable)
		}
	})
}
