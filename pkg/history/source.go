package history

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"
)

// Log is the event log of one run of an application.
type Log struct {
	// ID identifies the log, and is the application's ID in the History Server.
	ID string
	// Rolled is true for a log of several files in a folder.
	Rolled bool
	Files  []File
}

// File is a file of an event log.
type File struct {
	// Name is the name that Spark gave it, without its folder.
	Name     string
	Size     int64
	Modified time.Time
	// Key is the name by which the source opens it.
	Key string
}

// Source holds event logs.
type Source interface {
	// Name identifies the source.
	Name() string
	// Logs returns all event logs that are stored, uncompressed ones alone.
	Logs(ctx context.Context) ([]Log, error)
	// Open opens a part of a file. The error of a file that was deleted is ErrNotFound.
	Open(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error)
}

// ErrNotFound is the error of a path that does not exist.
var ErrNotFound = errors.New("there is no such file")

// Bucket is the folder into which the drivers of one namespace write their logs, by the file system of their image.
type Bucket struct {
	// Namespace is the namespace whose drivers write here.
	Namespace string
	Bucket    *blob.Bucket
}

// Name implements Source.
func (b *Bucket) Name() string { return b.Namespace }

// Spark's names of event logs. It puts no dot into them but before the name of a codec and its own suffixes.
const (
	rolledPrefix     = "eventlog_v2_"
	statusPrefix     = "appstatus_"
	inProgressSuffix = ".inprogress"
	compactSuffix    = ".compact"
)

var rolledFile = regexp.MustCompile(`^events_[0-9]+_`)

const (
	// maxLogs bounds how many logs are shown of a source, and maxFiles how many files all of them have.
	maxLogs, maxFiles = 100_000, 200_000
	// maxLogFiles bounds the files of one log. Spark rolls at 128 MiB, and its smallest size is 10 MiB. A log of more is not shown.
	maxLogFiles = 10_000
)

// Logs implements Source.
func (b *Bucket) Logs(ctx context.Context) ([]Log, error) {
	found := listing{namespace: b.Namespace, position: map[string]int{}}
	objects := b.Bucket.List(nil)
	for {
		object, err := objects.Next(ctx)
		if errors.Is(err, io.EOF) {
			return found.bounded(), nil
		}
		if err != nil {
			return nil, fmt.Errorf("list the event logs of namespace %s: %w", b.Namespace, err)
		}
		if err := found.add(object); err != nil {
			return nil, fmt.Errorf("namespace %s has %w: delete old ones, for example by a lifecycle rule of the bucket", b.Namespace, err)
		}
	}
}

// listing is what was listed of a bucket.
type listing struct {
	namespace string
	logs      []Log
	// position is where the log of a folder is, and files the number of files of all.
	position map[string]int
	files    int
}

// add adds an object of the bucket. Its error says of what there is too much.
func (l *listing) add(object *blob.ListObject) error {
	folder, name, rolled := strings.Cut(object.Key, "/")
	if !rolled {
		folder, name = strings.TrimSuffix(object.Key, inProgressSuffix), object.Key
	}
	if !isLogFile(folder, name, rolled) {
		return nil
	}
	at, ok := l.position[folder]
	if !ok {
		if at = len(l.logs); at == maxLogs {
			return fmt.Errorf("more than %d event logs", maxLogs)
		}
		l.position[folder] = at
		l.logs = append(l.logs, Log{ID: newID(l.namespace, folder), Rolled: rolled})
	}
	if len(l.logs[at].Files) > maxLogFiles {
		return nil // it is not shown: what else it has takes no memory
	}
	if l.files++; l.files > maxFiles {
		return fmt.Errorf("more than %d files of event logs", maxFiles)
	}
	l.logs[at].Files = append(l.logs[at].Files, File{Name: name, Size: object.Size, Modified: object.ModTime, Key: object.Key})
	return nil
}

// bounded returns the logs without those of too many files.
func (l *listing) bounded() []Log {
	return slices.DeleteFunc(l.logs, func(log Log) bool { return len(log.Files) > maxLogFiles })
}

// isLogFile reports whether a file belongs to an uncompressed event log.
func isLogFile(folder, name string, rolled bool) bool {
	if !rolled {
		return !strings.HasPrefix(folder, ".") && !strings.Contains(folder, ".")
	}
	plain := strings.TrimSuffix(strings.TrimSuffix(name, compactSuffix), inProgressSuffix)
	return strings.HasPrefix(folder, rolledPrefix) && !strings.ContainsAny(plain, "./") &&
		(strings.HasPrefix(name, statusPrefix) || rolledFile.MatchString(name))
}

// Open implements Source.
func (b *Bucket) Open(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	reader, err := b.Bucket.NewRangeReader(ctx, key, offset, length, nil)
	if gcerrors.Code(err) == gcerrors.NotFound {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("read %s of namespace %s: %w", key, b.Namespace, err)
	}
	return reader, nil
}
