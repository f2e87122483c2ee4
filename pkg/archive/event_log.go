package archive

import (
	"context"
	"errors"
	"io"
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

const (
	// EventLogFolder is the folder of an attempt that has the files of Spark's event log.
	EventLogFolder = "eventlog"
	// eventLogIndex is the folder of a namespace that names the attempts with an event log.
	eventLogIndex = "_eventlogs"
)

// EventLog identifies the event log of an attempt.
type EventLog struct {
	ID      ID
	Attempt int64
}

// eventLogEntry is the content of an entry in the index of event logs. Its key says everything.
type eventLogEntry struct {
	Format int `json:"format"`
}

// AnnounceEventLog stores that an attempt has an event log, and the description of its application if there is none yet.
func (a *Archive) AnnounceEventLog(ctx context.Context, app Application, attempt int64) error {
	if err := a.Announce(ctx, app); err != nil {
		return err
	}
	id := app.ID()
	key := join(id.Namespace.Name) + "/" + eventLogIndex + "/" +
		join(string(id.Namespace.UID), inverted(app.Created), id.Resource, id.Name, string(id.UID), itoa(attempt)) + ".json"
	if err := a.putDescription(ctx, key, eventLogEntry{Format}, true); !isThere(err) { // an earlier part of the log may have announced it
		return err
	}
	return nil
}

// EventLogs returns the attempts with an event log of all namespaces that had a name, at most some. Those of the newest applications come first. It is
// for those who may read all of them.
func (a *Archive) EventLogs(ctx context.Context, namespace string, most int) (logs []EventLog, truncated bool, err error) {
	prefix := Escape(namespace) + "/" + eventLogIndex + "/"
	err = a.list(ctx, prefix, true, func(found entry) bool {
		if log, ok := parseEventLog(namespace, found.key[len(prefix):]); ok {
			truncated = len(logs) == most
			if !truncated {
				logs = append(logs, log)
			}
		}
		return !truncated
	})
	return logs, truncated, err
}

// DriverFiles returns the names of the files, at most some, in a folder that a driver wrote into the archive by the file system of its image.
func (a *Archive) DriverFiles(ctx context.Context, folder string, most int) (names []string, truncated bool, err error) {
	prefix := folder + "/"
	err = a.list(ctx, prefix, true, func(found entry) bool {
		if truncated = len(names) == most; !truncated {
			names = append(names, found.key[len(prefix):])
		}
		return !truncated
	})
	return names, truncated, err
}

// ReadDriverFile reads a file that DriverFiles returned, until ctx ends. It is opened when its first byte is read.
func (a *Archive) ReadDriverFile(ctx context.Context, folder, name string) io.ReadCloser {
	return &driverFile{ctx: ctx, archive: a, key: folder + "/" + name}
}

// driverFile reads an object as it is.
type driverFile struct {
	ctx     context.Context //nolint:containedctx // a reader takes none
	archive *Archive
	key     string
	open    io.ReadCloser
}

// Read implements io.Reader.
func (f *driverFile) Read(into []byte) (int, error) {
	if f.open == nil {
		open, err := f.archive.bucket.NewReader(f.ctx, f.key, nil)
		if err != nil {
			return 0, failure("read", f.key, err)
		}
		f.open = open
	}
	count, err := f.open.Read(into)
	if err != nil && !errors.Is(err, io.EOF) {
		return count, failure("read", f.key, err)
	}
	return count, err
}

// Close implements io.Closer.
func (f *driverFile) Close() error {
	if f.open == nil {
		return nil
	}
	return f.open.Close()
}

// parseEventLog reads the key of an entry in the index of event logs.
func parseEventLog(namespace, key string) (EventLog, bool) {
	const uid, resource, name, app, attempt, count = 0, 2, 3, 4, 5, 6
	key, isEntry := strings.CutSuffix(key, ".json")
	elements, ok := split(key)
	if !isEntry || !ok || len(elements) != count {
		return EventLog{}, false
	}
	number, ok := parseAttempt(elements[attempt])
	id := ID{Namespace{namespace, types.UID(elements[uid])}, elements[resource], elements[name], types.UID(elements[app])}
	return EventLog{id, number}, ok && id.check() == nil
}
