package archive

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
)

const (
	// maxPage and defaultPage are the numbers of applications on a page.
	maxPage, defaultPage = 500, 100
	// maxPagesRead bounds the keys that are read for one page of matching applications.
	maxPagesRead = 10
	// readers is the number of descriptions that are read at once.
	readers = 16
	// maxSameName bounds the applications of one name that Find returns, and maxSameNameRead those that it reads to find the newest ones.
	maxSameName, maxSameNameRead = 100, 2000
)

// WriteApplication stores the description of an application, and its entry in the index.
func (a *Archive) WriteApplication(ctx context.Context, app Application) error {
	return a.writeApplication(ctx, app, false)
}

// Announce stores the description of an application if there is none yet.
func (a *Archive) Announce(ctx context.Context, app Application) error {
	if _, err := a.Application(ctx, app.ID()); err == nil || !IsNotFound(err) {
		return err
	}
	return a.writeApplication(ctx, app, true)
}

func (a *Archive) writeApplication(ctx context.Context, app Application, onlyIfAbsent bool) error {
	app.Format = Format
	id := app.ID()
	if err := id.check(); err != nil {
		return err
	}
	for _, key := range []string{id.indexKey(app.Created), id.folder() + applicationFile} {
		if err := a.putDescription(ctx, key, app, onlyIfAbsent); err != nil && !isThere(err) {
			return err
		}
	}
	return nil
}

// check returns an error for an ID that lacks a part. Without it, the keys of one application could be those of others.
func (id ID) check() error {
	if id.Namespace.Name == "" || id.Namespace.UID == "" || id.Resource == "" || id.Name == "" || id.UID == "" {
		return fmt.Errorf("the archive needs name and uid of namespace and application, and its resource: %+v", id)
	}
	return nil
}

// Application returns the description of an application. It is not found if the application belongs to another namespace of the same name.
func (a *Archive) Application(ctx context.Context, id ID) (*Application, error) {
	if err := id.check(); err != nil {
		return nil, err
	}
	var app Application
	if err := a.getJSON(ctx, id.folder()+applicationFile, &app); err != nil {
		return nil, err
	}
	if app.ID() != id {
		return nil, fmt.Errorf("application %s/%s: %w", id.Namespace.Name, id.Name, errNotFound)
	}
	return &app, nil
}

// Find returns the applications that had a name, the newest first. Keys do not have their times: it reads the descriptions before it leaves any out.
func (a *Archive) Find(ctx context.Context, namespace Namespace, resource, name string) ([]Application, error) {
	uids, err := a.folders(ctx, join(namespace.Name, resource, name)+"/")
	if err != nil {
		return nil, err
	}
	ids := make([]ID, 0, len(uids))
	for _, uid := range uids[:min(len(uids), maxSameNameRead)] {
		ids = append(ids, ID{Namespace: namespace, Resource: resource, Name: name, UID: types.UID(uid)})
	}
	found, err := a.read(ctx, ids)
	slices.SortStableFunc(found, func(a, b Application) int { return b.Created.Compare(a.Created) })
	return found[:min(len(found), maxSameName)], err
}

// Attempts returns the numbers of the attempts of which anything is stored, in order.
func (a *Archive) Attempts(ctx context.Context, id ID) ([]int64, error) {
	if _, err := a.Application(ctx, id); err != nil {
		return nil, err
	}
	names, err := a.folders(ctx, id.folder())
	if err != nil {
		return nil, err
	}
	var attempts []int64
	for _, name := range names {
		if attempt, ok := parseAttempt(name); ok {
			attempts = append(attempts, attempt)
		}
	}
	slices.Sort(attempts)
	return attempts, nil
}

// parseAttempt reads the number of an attempt.
func parseAttempt(name string) (int64, bool) {
	attempt, err := strconv.ParseInt(name, 10, 64)
	return attempt, err == nil && attempt >= 0
}

// Namespaces returns the names of all namespaces of which anything is stored.
func (a *Archive) Namespaces(ctx context.Context) ([]string, error) {
	return a.folders(ctx, "") // folders of other things begin with "_", as no name does
}

// NamespaceUIDs returns the uids of the namespaces that had a name. It is for those who may read all of them.
func (a *Archive) NamespaceUIDs(ctx context.Context, namespace string) ([]types.UID, error) {
	names, err := a.folders(ctx, Escape(namespace)+"/"+indexFolder+"/")
	uids := make([]types.UID, len(names))
	for i, name := range names {
		uids[i] = types.UID(name)
	}
	return uids, err
}

// Filter selects applications. Empty fields select all.
type Filter struct {
	Resource, Name, State string
	// Since and Until bound the time of creation.
	Since, Until time.Time
	Labels       labels.Selector
}

// Page is the part of a list that is asked for.
type Page struct {
	// Limit is the number of applications; 100 if it is not positive, and at most 500.
	Limit int
	// Token is Next of the page before; empty for the first page.
	Token string
}

// Applications is a page of applications, the newest first.
type Applications struct {
	Items []Application
	// Next is the token of the next page; empty if there is none. A page may have fewer applications than its limit, and there is a next one.
	Next string
}

// List returns a page of the applications of a namespace.
func (a *Archive) List(ctx context.Context, namespace Namespace, filter Filter, page Page) (*Applications, error) {
	if namespace.Name == "" || namespace.UID == "" {
		return nil, errors.New("list applications: name and uid of the namespace are needed")
	}
	token, err := base64.RawURLEncoding.DecodeString(page.Token)
	if err != nil {
		return nil, fmt.Errorf("the token %q is that of no page: begin with the first page", page.Token)
	}
	if page.Limit <= 0 {
		page.Limit = defaultPage
	}
	limit, list := min(page.Limit, maxPage), &Applications{}
	for range maxPagesRead {
		entries, next, err := a.page(ctx, indexPrefix(namespace), true, token, limit-len(list.Items))
		if err != nil {
			return nil, err
		}
		ids, past := filter.ids(namespace, entries)
		found, err := a.read(ctx, ids)
		if err != nil {
			return nil, err
		}
		list.Items = append(list.Items, slices.DeleteFunc(found, func(app Application) bool { return !filter.matches(app) })...)
		if list.Next, token = "", next; len(next) == 0 || past {
			return list, nil
		}
		list.Next = base64.RawURLEncoding.EncodeToString(next)
		if len(list.Items) >= limit {
			break
		}
	}
	return list, nil
}

// ids returns the applications of entries of the index that match as far as keys show, and whether all that follow are too old.
func (f Filter) ids(namespace Namespace, entries []entry) (ids []ID, past bool) {
	for _, found := range entries {
		key, _ := strings.CutSuffix(found.key[len(indexPrefix(namespace)):], ".json")
		elements, ok := split(key)
		if !ok || len(elements) != 4 {
			continue
		}
		created, ok := createdAt(elements[0])
		switch {
		case !ok, f.Resource != "" && f.Resource != elements[1], f.Name != "" && f.Name != elements[2], !f.Until.IsZero() && created.After(f.Until):
		case !f.Since.IsZero() && created.Add(time.Second).Before(f.Since):
			return ids, true
		default:
			ids = append(ids, ID{Namespace: namespace, Resource: elements[1], Name: elements[2], UID: types.UID(elements[3])})
		}
	}
	return ids, false
}

func (f Filter) matches(app Application) bool {
	return (f.State == "" || f.State == app.State) && (f.Labels == nil || f.Labels.Matches(labels.Set(app.Labels))) &&
		!app.Created.Before(f.Since) && (f.Until.IsZero() || !app.Created.After(f.Until))
}

// read reads the descriptions of applications, in the given order. It leaves out those that are not found.
func (a *Archive) read(ctx context.Context, ids []ID) ([]Application, error) {
	found := make([]*Application, len(ids))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(readers)
	for i, id := range ids {
		group.Go(func() error {
			app, err := a.Application(ctx, id)
			if IsNotFound(err) {
				return nil
			}
			found[i] = app
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	apps := make([]Application, 0, len(found))
	for _, app := range found {
		if app != nil {
			apps = append(apps, *app)
		}
	}
	return apps, nil
}

// Compare orders logs for people: the driver's or the master's first, then by role, Pod, container and time.
func (l Log) Compare(other Log) int {
	rank := func(role string) int {
		return slices.Index([]string{RoleDriver, RoleMaster, RoleExecutor, RoleWorker, RoleSidecar, RoleInit}, role)
	}
	from := func(log Log) time.Time {
		if log.From == nil {
			return time.Time{}
		}
		return *log.From
	}
	return cmp.Or(cmp.Compare(rank(l.Role), rank(other.Role)), cmp.Compare(l.Pod, other.Pod), cmp.Compare(l.Container, other.Container),
		from(l).Compare(from(other)), cmp.Compare(l.PodUID, other.PodUID), cmp.Compare(l.Restart, other.Restart))
}
