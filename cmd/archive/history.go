package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
	"gocloud.dev/blob"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"knative.dev/pkg/configmap"
	"knative.dev/pkg/logging"

	"github.com/firesteel-dev/firesteel/pkg/archive/address"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/history"
)

// historyEnvironment holds the environment variables of archive history.
type historyEnvironment struct {
	// WebHDFS is the address at which the History Server reads. Only its own Pod may reach it.
	WebHDFS string `envconfig:"WEBHDFS_ADDRESS" default:"localhost:9870"`
	// Probes is the address for the kubelet's probes.
	Probes string `envconfig:"PROBE_ADDRESS" default:":8081"`
	// Settings is the folder with the data of the ConfigMap config-archive, as a volume has it.
	Settings string `envconfig:"SETTINGS_FOLDER" default:"/etc/config-archive"`
	// Interval is how often settings and storage are read again.
	Interval time.Duration `envconfig:"REFRESH_INTERVAL" default:"30s"`
}

const (
	// readHeaderTimeout bounds the time until a request's header has arrived.
	readHeaderTimeout = 5 * time.Second
	// idleTimeout is how long a connection stays open between two requests.
	idleTimeout = 2 * time.Minute
	// shutdownTimeout is how long requests may take when the process stops.
	shutdownTimeout = 5 * time.Second
)

// serveHistory serves the view until ctx ends.
func serveHistory(ctx context.Context, env historyEnvironment) error {
	var ready atomic.Bool
	view := &history.View{}
	probes := http.NewServeMux()
	probes.HandleFunc("GET /healthz", func(http.ResponseWriter, *http.Request) {})
	probes.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if !ready.Load() {
			http.Error(w, "the archives were not listed yet", http.StatusServiceUnavailable)
		}
	})
	group, ctx := errgroup.WithContext(ctx)
	for address, handler := range map[string]http.Handler{env.WebHDFS: view, env.Probes: probes} {
		if err := serve(ctx, group, address, handler); err != nil {
			return err
		}
	}
	group.Go(func() error { return follow(ctx, env, view, func() { ready.Store(true) }) })
	return group.Wait()
}

// serve starts a server, which stops when ctx ends.
func serve(ctx context.Context, group *errgroup.Group, address string, handler http.Handler) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("serve: %w", err)
	}
	requests := context.WithoutCancel(ctx)
	server := &http.Server{
		Handler: handler, ReadHeaderTimeout: readHeaderTimeout, IdleTimeout: idleTimeout, BaseContext: func(net.Listener) context.Context { return requests },
	}
	logging.FromContext(ctx).Infow("serving", "address", listener.Addr().String())
	group.Go(func() error {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("serve: %w", err)
		}
		return nil
	})
	group.Go(func() error {
		<-ctx.Done()
		limited, cancel := context.WithTimeout(requests, shutdownTimeout)
		defer cancel()
		_ = server.Shutdown(limited) // what has not ended by then is cut off
		return nil
	})
	return nil
}

// follow reads settings and storage again and again. Invalid settings end the process at its start; later the last valid ones stay.
func follow(ctx context.Context, env historyEnvironment, view *history.View, ready func()) error {
	opened := buckets{}
	defer opened.close(nil)
	var namespaces map[string]string
	ticker := time.NewTicker(env.Interval)
	defer ticker.Stop()
	for first := true; ; first = false {
		settings, err := readSettings(env.Settings)
		switch {
		case err == nil:
			namespaces = settings.EventLogArchives()
		case first:
			return err
		default:
			logging.FromContext(ctx).Errorw("invalid settings are ignored", zap.Error(err))
		}
		sources, err := opened.open(ctx, namespaces)
		if err = errors.Join(err, view.Refresh(ctx, sources)); err != nil && ctx.Err() == nil {
			logging.FromContext(ctx).Errorw("some archives cannot be listed, what they held before is shown", zap.Error(err))
		}
		ready()
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// readSettings reads config-archive from the folder of its volume.
func readSettings(folder string) (*config.Archive, error) {
	data, err := configmap.Load(folder)
	if err != nil {
		return nil, fmt.Errorf("read settings: %w", err)
	}
	return config.NewArchive(&corev1.ConfigMap{Data: data})
}

// buckets holds the folders of event logs that are open, by the URLs of their archives.
type buckets map[string]*blob.Bucket

// open returns a source for each namespace with an archive, and closes what is not needed any more.
func (b buckets) open(ctx context.Context, namespaces map[string]string) ([]history.Source, error) {
	var sources []history.Source
	var errs []error
	for _, namespace := range slices.Sorted(maps.Keys(namespaces)) {
		archive := namespaces[namespace]
		if b[archive] == nil {
			bucket, err := openFolder(ctx, archive)
			if err != nil {
				errs = append(errs, fmt.Errorf("open the archive of namespace %s: %w", namespace, err))
				continue
			}
			b[archive] = bucket
		}
		sources = append(sources, &history.Bucket{Namespace: namespace, Bucket: b[archive]})
	}
	b.close(slices.Collect(maps.Values(namespaces)))
	return sources, errors.Join(errs...)
}

// openFolder opens the folder of event logs in an archive.
func openFolder(ctx context.Context, archive string) (*blob.Bucket, error) {
	opened, err := address.Bucket(archive)
	if err != nil {
		return nil, err
	}
	bucket, err := blob.OpenBucket(ctx, opened)
	if err != nil {
		return nil, err
	}
	return blob.PrefixedBucket(bucket, config.EventLogFolder+"/"), nil
}

// close closes all buckets but some. A file that is being read from one is cut off.
func (b buckets) close(except []string) {
	for archive, bucket := range b {
		if !slices.Contains(except, archive) {
			_ = bucket.Close() // nothing was written
			delete(b, archive)
		}
	}
}
