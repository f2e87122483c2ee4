package chaos

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/archive"
	_ "github.com/firesteel-dev/firesteel/pkg/archive/clouds" // the storage of the archive
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/test/harness/kubelet"
	"github.com/firesteel-dev/firesteel/test/harness/rng"
	"github.com/firesteel-dev/firesteel/test/harness/s3"
	"github.com/firesteel-dev/firesteel/test/invariants"
)

const (
	archiveBucket = "spark-archive"
	// archiveWait is how long an attempt waits for the archive. Most attempts of a short run are archived in that time.
	archiveWait = 5 * time.Second
	// storageRate is the share of the requests to the storage that fail.
	storageRate = 0.1
	logLines    = 300
)

// archives reports whether the run archives. An earlier version has no archive, and a restore of the API server undoes what is recorded about it.
func archives() bool { return *versionsFlag == "" && !*restoreFlag }

// archiving is the storage of the archive, and the kubelet that serves the logs.
type archiving struct {
	storage *s3.Server
	logs    *kubelet.Logs
	began   time.Time
}

// startStorage starts the storage and the kubelet.
func (w *env) startStorage(ctx context.Context) error {
	folder := filepath.Join(w.dir, "storage")
	if err := os.Mkdir(folder, 0o700); err != nil {
		return err
	}
	storage, err := s3.Start(ctx, repository, folder)
	if err != nil {
		return err
	}
	began := time.Now().Truncate(time.Second)
	w.archiving = &archiving{storage, kubelet.ServeLogs(began, logOf), began}
	return storage.AddBucket(ctx, archiveBucket)
}

func (a *archiving) close() {
	a.logs.Close()
	a.storage.Stop()
}

// logOf is the log of a container, whose Pod may be one of several with its name.
func logOf(namespace, pod, container string) []string {
	lines := make([]string, logLines)
	for i := range lines {
		lines[i] = fmt.Sprintf("INFO %s/%s/%s line %d", namespace, pod, container, i)
	}
	return lines
}

// configureArchive turns the archive on.
func (w *env) configureArchive(ctx context.Context) error {
	return w.Configure(ctx, "config-archive", map[string]string{
		"url": w.archiving.storage.URL(archiveBucket, "logs"), "wait": archiveWait.String(),
	})
}

// stormOnStorage lets the storage fail at random, or no more.
func (w *env) stormOnStorage(stormy bool) {
	switch {
	case w.archiving == nil:
	case stormy:
		w.archiving.storage.Break(s3.Storm(rng.New(w.seed, "storage"), storageRate, w.delay, w.counters.count))
	default:
		w.archiving.storage.Break(nil)
	}
}

// wantedOfStorage are the faults of the storage that a run must inject.
func wantedOfStorage() []string {
	if !archives() {
		return nil
	}
	return s3.StormFaults()
}

// checkArchive reports each attempt that is not archived as its record says.
func (r *run) checkArchive(apps []*invariants.Application) {
	if r.archiving == nil {
		return
	}
	ctx := r.Context()
	for name, value := range s3.Variables() {
		r.Setenv(name, value)
	}
	store, err := archive.Open(ctx, r.archiving.storage.URL(archiveBucket, "logs"))
	r.must(err)
	defer store.Close()
	counts := map[lifecycle.Archived]int{}
	for _, app := range apps {
		for attempt, how := range app.Archived() {
			counts[how]++
			if err := r.archivedAttempt(ctx, store, app, attempt, how); err != nil {
				r.fail("%s (%s), attempt %d: %v", app.Object.Key(), app.UID, attempt, err)
			}
		}
	}
	r.logf("attempts in the archive: %v", counts)
	if counts[lifecycle.ArchivedWhole] == 0 {
		r.fail("no attempt is archived whole: the run proves too little")
	}
}

func (r *run) archivedAttempt(ctx context.Context, store *archive.Archive, app *invariants.Application, attempt int64, how lifecycle.Archived) error {
	if how == lifecycle.ArchivedNot {
		return nil
	}
	namespace, err := r.Kube.CoreV1().Namespaces().Get(ctx, app.Object.Namespace, metav1.GetOptions{})
	if err != nil {
		return err
	}
	stored := store.Attempt(archive.ID{
		Namespace: archive.Namespace{Name: namespace.Name, UID: namespace.UID}, Resource: app.Object.Resource + "." + app.Object.Group,
		Name: app.Object.Name, UID: app.UID,
	}, attempt)
	manifest, err := stored.Manifest(ctx)
	if archive.IsNotFound(err) {
		manifest, err = nil, nil
	}
	if err != nil {
		return err
	}
	var logs []invariants.StoredLog
	if manifest != nil {
		for _, log := range manifest.Logs {
			content, err := readLog(ctx, stored, log.LogID)
			if err != nil {
				return err
			}
			logs = append(logs, invariants.StoredLog{Log: log, Content: content})
		}
	}
	return invariants.ArchivedAsRecorded(how, manifest, logs, func(log archive.LogID) string {
		return kubelet.Stamped(r.archiving.began, time.Time{}, logOf(app.Object.Namespace, log.Pod, log.Container))
	})
}

func readLog(ctx context.Context, stored *archive.Attempt, log archive.LogID) (string, error) {
	reader, err := stored.OpenLog(ctx, log, archive.LogOptions{Timestamps: true, Tail: -1})
	if err != nil {
		return "", err
	}
	content, err := io.ReadAll(reader)
	return string(content), errors.Join(err, reader.Close())
}
