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

// Handle serves a handler until the process is told to stop, by SIGTERM or an interrupt, and then finishes what it has
// begun: see Serve. It listens at $PORT, 8080 where that is not set, for probes at $PROBE_PORT, and logs JSON lines from
// $LOG_LEVEL (debug, info, ...; info) on. Where it cannot serve, it says why and ends the process.
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
		return fmt.Errorf("make logger: %w", err)
	}
	return Serve(logging.WithLogger(ctx, logger.Sugar()), env.Port, handler, WithProbes(env.ProbePort))
}

const (
	// notReadyPeriod is how long a server that is to stop still takes events: others have yet to hear that it is not ready.
	notReadyPeriod = 3 * time.Second
	// shutdownTimeout is how long events that were taken may take to be answered then. Together they stay below the 30 s that
	// Kubernetes gives a Pod.
	shutdownTimeout = 20 * time.Second
	// readHeaderTimeout and readTimeout are how long the header of a request, and all of it, may take to arrive.
	readHeaderTimeout = 5 * time.Second
	readTimeout       = 15 * time.Second
	// writeTimeout is how long a request may take from its header to the end of its answer: the arrival of its body, the wait for a
	// call, the call, and the answer.
	writeTimeout = 90 * time.Second
	// idleTimeout is how long a connection is kept between requests.
	idleTimeout = 2 * time.Minute
	// maxHeaderBytes is how large a header may be.
	maxHeaderBytes = 32 << 10
)

// Option adjusts what Serve serves.
type Option func(*options)

type options struct {
	probePort      int
	authenticate   Authenticate
	notReadyPeriod time.Duration
}

// WithProbes serves GET /healthz and /readyz at a port of their own, and not at the one for events, so that each can have its own
// peers. Zero leaves them together.
func WithProbes(port int) Option { return func(o *options) { o.probePort = port } }

// WithAuthentication takes the events of those senders only that authenticate lets pass.
func WithAuthentication(authenticate Authenticate) Option {
	return func(o *options) { o.authenticate = authenticate }
}

// Serve serves a handler at a port until ctx ends: POST is for events, as NewReceiver takes them, GET /healthz answers that
// the process lives, and GET /readyz 200 until ctx ends and 503 from then on. Events are taken for 3 s more, and those that
// were taken have another 20 s. The logger is the context's. What ctx holds, handlers get, but for its end.
//
// A request has 15 s to arrive. Connections are bounded: beyond 1,024 the one is closed that has kept the server waiting
// longest, so that nobody who opens connections and sends nothing keeps others from being served.
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

// serve serves events, and probes with them if they have no listener of their own.
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
	logging.FromContext(ctx).Infow("events are taken", "address", listener.Addr().String())
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

// newServer makes a server whose requests get the context.
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
			http.Error(w, "about to stop", http.StatusServiceUnavailable)
		}
	})
}
