package history

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/firesteel-dev/firesteel/pkg/archive"
	"github.com/firesteel-dev/firesteel/pkg/eventlog"
)

// Archived holds the event logs of one namespace that the sidecars of its drivers sent to the archive.
type Archived struct {
	namespace string
	archive   *archive.Archive

	mutex sync.Mutex
	known map[archive.EventLog]*archivedLog
	// places holds the logs by their places, for readers that do not wait for a listing.
	places atomic.Pointer[map[string]archive.EventLog]
}

// NewArchived returns the event logs of a namespace in an archive.
func NewArchived(namespace string, stored *archive.Archive) *Archived {
	return &Archived{namespace: namespace, archive: stored, known: map[archive.EventLog]*archivedLog{}}
}

// archivedLog is an event log as it was listed last.
type archivedLog struct {
	Log
	// complete reports whether nothing of it is to follow.
	complete bool
	// again is when it is listed again.
	again time.Time
}

// Name implements Source. No namespace has such a name, so it is not that of a Bucket.
func (a *Archived) Name() string { return a.namespace + "/" }

const (
	// listers is how many event logs are listed at once.
	listers = 16
	// maxRelist is how long a log that does not change is not listed again, at most. Until then, that is a tenth of its age.
	maxRelist, relistShare = time.Hour, 10
)

// Logs implements Source. A complete log is listed once. Another one is listed the less often the longer ago something was stored of it: its driver may have
// been killed.
func (a *Archived) Logs(ctx context.Context) ([]Log, error) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	names, truncated, err := a.archive.EventLogs(ctx, a.namespace, maxLogs)
	if err != nil {
		return nil, fmt.Errorf("list the event logs of namespace %s: %w", a.namespace, err)
	}
	if truncated {
		return nil, fmt.Errorf("namespace %s has more than %d event logs: set retention-age in the ConfigMap config-archive", a.namespace, maxLogs)
	}
	now := time.Now()
	found := make([]*archivedLog, len(names))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(listers)
	for i, name := range names {
		if found[i] = a.known[name]; found[i] != nil && (found[i].complete || now.Before(found[i].again)) {
			continue
		}
		group.Go(func() (err error) {
			found[i], err = a.list(ctx, name, now)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, fmt.Errorf("list the event logs of namespace %s: %w", a.namespace, err)
	}
	a.known = make(map[archive.EventLog]*archivedLog, len(names))
	places := make(map[string]archive.EventLog, len(names))
	var logs []Log
	for i, name := range names {
		a.known[name], places[placeOf(name)] = found[i], name
		if len(found[i].Files) > 0 {
			logs = append(logs, found[i].Log)
		}
	}
	a.places.Store(&places)
	return logs, nil
}

// list lists the files of an event log.
func (a *Archived) list(ctx context.Context, name archive.EventLog, now time.Time) (*archivedLog, error) {
	files, err := a.archive.Attempt(name.ID, name.Attempt).Files(ctx, archive.EventLogFolder)
	if err != nil && !archive.IsNotFound(err) { // it is being deleted
		return nil, err
	}
	place := placeOf(name)
	log := &archivedLog{Log: Log{ID: SentID(name), Rolled: true}}
	var modified time.Time
	for _, file := range files {
		if len(file.Path) != len([]string{archive.EventLogFolder, "name"}) || eventlog.CheckName(file.Path[1]) != nil {
			continue
		}
		log.complete = log.complete || eventlog.IsFinal(file.Path[1])
		modified = latest(modified, file.Modified)
		log.Files = append(log.Files, File{Name: file.Path[1], Size: file.Size, Modified: file.Modified, Key: place + "/" + file.Path[1]})
	}
	if log.again = now; !modified.IsZero() {
		log.again = now.Add(min(now.Sub(modified)/relistShare, maxRelist))
	}
	return log, nil
}

// placeOf returns a text that identifies an event log in its namespace. Its elements have no "/".
func placeOf(log archive.EventLog) string {
	elements := []string{string(log.ID.Namespace.UID), log.ID.Resource, log.ID.Name, string(log.ID.UID), strconv.FormatInt(log.Attempt, 10)}
	for i, element := range elements {
		elements[i] = archive.Escape(element)
	}
	return strings.Join(elements, "/")
}

// Open implements Source.
func (a *Archived) Open(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	place, name := key[:max(strings.LastIndexByte(key, '/'), 0)], key[strings.LastIndexByte(key, '/')+1:]
	places := a.places.Load()
	if places == nil {
		return nil, ErrNotFound
	}
	log, ok := (*places)[place]
	if !ok {
		return nil, ErrNotFound
	}
	content, err := a.archive.Attempt(log.ID, log.Attempt).File(archive.EventLogFolder, name).Open(ctx, offset, length)
	switch {
	case archive.IsNotFound(err):
		return nil, ErrNotFound
	case err != nil:
		return nil, fmt.Errorf("read %s of namespace %s: %w", key, a.namespace, err)
	}
	return content, nil
}
