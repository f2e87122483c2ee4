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

	"github.com/firesteel-dev/firesteel/pkg/archive"
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
	opened, sent := buckets{}, newSentLogs()
	defer opened.close(nil)
	var current *config.Archive
	ticker := time.NewTicker(env.Interval)
	defer ticker.Stop()
	for first := true; ; first = false {
		settings, err := readSettings(env.Settings)
		switch {
		case err == nil:
			current = settings
		case first:
			return err
		default:
			logging.FromContext(ctx).Errorw("invalid settings are ignored", zap.Error(err))
		}
		sources, err := opened.open(ctx, current.EventLogArchives())
		further, err2 := sent.sources(ctx, current)
		if err = errors.Join(err, err2, view.Refresh(ctx, append(sources, further...))); err != nil && ctx.Err() == nil {
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
		url := namespaces[namespace]
		if b[url] == nil {
			bucket, err := openFolder(ctx, url)
			if err != nil {
				errs = append(errs, fmt.Errorf("open the archive of namespace %s: %w", namespace, err))
				continue
			}
			b[url] = bucket
		}
		sources = append(sources, &history.Bucket{Namespace: namespace, Bucket: b[url]})
	}
	b.close(slices.Collect(maps.Values(namespaces)))
	return sources, errors.Join(errs...)
}

// sentLogs holds the sources of the event logs that sidecars sent, by archive and namespace.
type sentLogs struct {
	stores *archive.Stores
	known  map[sentLog]*history.Archived
}

type sentLog struct{ archive, namespace string }

func newSentLogs() *sentLogs { return &sentLogs{archive.NewStores(), map[sentLog]*history.Archived{}} }

// sources returns a source for each namespace of which anything is archived. If an archive cannot be listed, its namespaces stay.
func (s *sentLogs) sources(ctx context.Context, settings *config.Archive) ([]history.Source, error) {
	var errs []error
	named := map[sentLog]*history.Archived{}
	for url, selects := range settings.URLs() {
		stored, namespaces, err := s.namespaces(ctx, url)
		if err != nil {
			errs = append(errs, fmt.Errorf("list the namespaces of an archive: %w", err))
			namespaces = s.before(url)
		}
		for _, namespace := range namespaces {
			key := sentLog{url, namespace}
			switch known := s.known[key]; {
			case !selects(namespace):
			case known != nil:
				named[key] = known
			default:
				named[key] = history.NewArchived(namespace, stored)
			}
		}
	}
	s.known = named
	sources := make([]history.Source, 0, len(named))
	for _, source := range named {
		sources = append(sources, source)
	}
	return sources, errors.Join(errs...)
}

func (s *sentLogs) namespaces(ctx context.Context, url string) (*archive.Archive, []string, error) {
	stored, err := s.stores.For(ctx, url)
	if err != nil {
		return nil, nil, err
	}
	names, err := stored.Namespaces(ctx)
	return stored, names, err
}

// before returns the namespaces of an archive that were known before.
func (s *sentLogs) before(url string) (namespaces []string) {
	for key := range s.known {
		if key.archive == url {
			namespaces = append(namespaces, key.namespace)
		}
	}
	return namespaces
}

// openFolder opens the folder of event logs in an archive.
func openFolder(ctx context.Context, url string) (*blob.Bucket, error) {
	opened, err := address.Bucket(url)
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
	for url, bucket := range b {
		if !slices.Contains(except, url) {
			_ = bucket.Close() // nothing was written
			delete(b, url)
		}
	}
}
