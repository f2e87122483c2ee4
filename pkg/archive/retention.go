package archive

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"
)

const (
	retentionFile = ownFolder + "/retention.json"
	// quiet is how long nothing was written of an application before it may be deleted: it may still run.
	quiet = time.Hour
)

// Retention is what is retained of each namespace. Zero values bound nothing.
type Retention struct {
	// Age is how long an application is retained after the last of it was stored, which is when its last attempt ended.
	Age time.Duration
	// Bytes is how much is retained of a namespace. The oldest applications are deleted first.
	Bytes int64
}

// Deleted is what a sweep deleted.
type Deleted struct {
	Applications int
	Bytes        int64
}

// sweep is the note of the last sweep.
type sweep struct {
	Began time.Time `json:"began"`
}

// SweepIfDue deletes what is not to be retained, if no process began with that within the interval. Two processes that do it at once do no harm.
// namespaces selects the namespaces that belong to this archive.
func (a *Archive) SweepIfDue(
	ctx context.Context, now time.Time, interval time.Duration, retention Retention, namespaces func(name string) bool,
) (Deleted, error) {
	var last sweep
	switch err := a.getJSON(ctx, retentionFile, &last); {
	case IsNotFound(err):
	case IsStorage(err):
		return Deleted{}, err
	case err != nil: // what is no note must not end all deletion: the next one replaces it
	case !last.Began.After(now) && now.Sub(last.Began) < interval: // nor must a note of a process whose clock was wrong
		return Deleted{}, nil
	}
	if err := a.putJSON(ctx, retentionFile, sweep{now}); err != nil {
		return Deleted{}, err
	}
	names, err := a.Namespaces(ctx)
	if err != nil {
		return Deleted{}, err
	}
	var sum Deleted
	var errs []error
	for _, name := range names {
		if !namespaces(name) {
			continue
		}
		of, err := a.Sweep(ctx, now, retention, name)
		sum.Applications, sum.Bytes = sum.Applications+of.Applications, sum.Bytes+of.Bytes
		if err != nil { // the namespaces after it are swept all the same
			errs = append(errs, err)
		}
		if ctx.Err() != nil {
			break
		}
	}
	return sum, errors.Join(errs...)
}

// stored is what is stored of an application.
type stored struct {
	folder string
	// entries are its entries in the indexes of its namespace.
	entries  []string
	bytes    int64
	modified time.Time
}

// Sweep deletes what is not to be retained of a namespace: applications that ended too long ago, and the oldest ones if all together are too large.
func (a *Archive) Sweep(ctx context.Context, now time.Time, retention Retention, namespace string) (Deleted, error) {
	if len(validation.IsDNS1123Label(namespace)) > 0 {
		return Deleted{}, nil // no namespace has such a name: the folder is not of an archive
	}
	usage, err := a.usage(ctx, namespace)
	if err != nil {
		return Deleted{}, err
	}
	var total int64
	for _, app := range usage {
		total += app.bytes
	}
	apps := slices.SortedFunc(maps.Values(usage), func(x, y *stored) int {
		return cmp.Or(x.modified.Compare(y.modified), cmp.Compare(x.folder, y.folder))
	})
	var deleted Deleted
	for _, app := range apps {
		age := now.Sub(app.modified)
		tooOld, tooMuch := retention.Age > 0 && age > retention.Age, retention.Bytes > 0 && total > retention.Bytes
		if age < quiet || !tooOld && !tooMuch {
			break
		}
		switch done, err := a.deleteApplication(ctx, app); {
		case err != nil:
			return deleted, err
		case !done:
			continue
		}
		total -= app.bytes
		deleted.Applications, deleted.Bytes = deleted.Applications+1, deleted.Bytes+app.bytes
	}
	return deleted, nil
}

// isArchived reports whether a resource is one of those that are archived: applications, whatever their API, and clusters.
func isArchived(resource string) bool {
	return strings.HasPrefix(resource, "sparkapplications.") || strings.HasPrefix(resource, "sparkclusters.")
}

// usage lists what is stored of each application of a namespace, by resource, name and uid. The bucket may hold things of others, with as many elements in
// their keys: what is not below the resource of an application is not counted, and so never deleted.
func (a *Archive) usage(ctx context.Context, namespace string) (map[string]*stored, error) {
	apps := map[string]*stored{}
	of := func(elements []string) *stored {
		key := strings.Join(elements, "/")
		if names, ok := split(key); !ok || !isArchived(names[0]) {
			return nil
		}
		if apps[key] == nil {
			apps[key] = &stored{}
		}
		return apps[key]
	}
	const inIndex, inEventLogIndex, inFolder = 7, 8, 5
	err := a.list(ctx, Escape(namespace)+"/", true, func(found entry) bool {
		elements := strings.Split(found.key, "/")
		switch {
		case len(elements) == inIndex && elements[1] == indexFolder:
			if app := of([]string{elements[4], elements[5], strings.TrimSuffix(elements[6], ".json")}); app != nil {
				app.entries = append(app.entries, found.key)
				app.note(found)
			}
		case len(elements) == inEventLogIndex && elements[1] == eventLogIndex:
			if app := of(elements[4:7]); app != nil {
				app.entries = append(app.entries, found.key)
				app.note(found)
			}
		case len(elements) >= inFolder:
			if app := of(elements[1:4]); app != nil {
				app.folder = strings.Join(elements[:4], "/") + "/"
				app.note(found)
			}
		}
		return true
	})
	return apps, err
}

func (s *stored) note(found entry) {
	s.bytes += found.size
	if found.modified.After(s.modified) {
		s.modified = found.modified
	}
}

// deleteApplication deletes an application: its entries in the indexes last, so that a deletion that is interrupted is repeated. It deletes nothing, and
// returns false, if something was stored since the application was listed: another attempt has ended.
func (a *Archive) deleteApplication(ctx context.Context, app *stored) (bool, error) {
	var keys []string
	written := false
	if app.folder != "" {
		if err := a.list(ctx, app.folder, true, func(found entry) bool {
			written = found.modified.After(app.modified)
			keys = append(keys, found.key)
			return !written
		}); err != nil || written {
			return false, err
		}
	}
	for _, key := range append(keys, app.entries...) {
		if err := a.delete(ctx, key); err != nil {
			return false, err
		}
	}
	return true, nil
}
