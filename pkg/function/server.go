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
)

// Handle serves a handler until the process is told to stop, by SIGTERM or an interrupt, and then finishes what it has
// begun: see Serve. It listens at $PORT, 8080 where that is not set, and logs JSON lines from $LOG_LEVEL (debug, info, ...;
// info) on. Where it cannot serve, it says why and ends the process.
func Handle(handler events.Handler) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	err := handle(ctx, handler)
	stop()
	if err != nil {
		log.Fatal(err)
	}
}

func handle(ctx context.Context, handler events.Handler) error {
	var env struct {
		Port     int             `envconfig:"PORT" default:"8080"`
		LogLevel zap.AtomicLevel `envconfig:"LOG_LEVEL" default:"info"`
	}
	if err := envconfig.Process("", &env); err != nil {
		return err
	}
	config := zap.NewProductionConfig()
	config.Level = env.LogLevel
	logger, err := config.Build()
	if err != nil {
		return fmt.Errorf("make logger: %w", err)
	}
	return Serve(logging.WithLogger(ctx, logger.Sugar()), env.Port, handler)
}

const (
	// leaveTime is how long a server that is to stop still takes events: others have yet to hear that it is not ready.
	leaveTime = 3 * time.Second
	// drainTime is how long events that were taken may take to be answered then. Together they stay below the 30 s that
	// Kubernetes gives a Pod.
	drainTime = 20 * time.Second
)

// Serve serves a handler at a port until ctx ends: POST is for events, as NewReceiver takes them, GET /healthz answers that
// the process lives, and GET /readyz 200 until ctx ends and 503 from then on. Events are taken for 3 s more, and those that
// were taken have another 20 s. The logger is the context's. What ctx holds, handlers get, but for its end.
func Serve(ctx context.Context, port int, handler events.Handler) error {
	listener, err := net.Listen("tcp", fmt.Sprintf(":%d", port))
	if err != nil {
		return fmt.Errorf("serve: %w", err)
	}
	return serve(ctx, listener, handler, leaveTime)
}

func serve(ctx context.Context, listener net.Listener, handler events.Handler, leave time.Duration) error {
	receiver, err := NewReceiver(handler)
	if err != nil {
		return err
	}
	var leaving atomic.Bool
	lasting := context.WithoutCancel(ctx)
	server := &http.Server{
		Handler:           routes(receiver, &leaving),
		BaseContext:       func(net.Listener) context.Context { return lasting },
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       30 * time.Second,
		ErrorLog:          zap.NewStdLog(logging.FromContext(ctx).Desugar()),
	}
	logging.FromContext(ctx).Infow("events are taken", "address", listener.Addr().String())
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("serve: %w", err)
		}
		return nil
	})
	group.Go(func() error {
		<-ctx.Done()
		leaving.Store(true)
		time.Sleep(leave)
		drain, cancel := context.WithTimeout(lasting, drainTime)
		defer cancel()
		return server.Shutdown(drain)
	})
	return group.Wait()
}

func routes(receiver http.Handler, leaving *atomic.Bool) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("POST /", receiver)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if leaving.Load() {
			http.Error(w, "about to stop", http.StatusServiceUnavailable)
		}
	})
	return mux
}
