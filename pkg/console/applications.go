package console

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/access"
	"github.com/firesteel-dev/firesteel/pkg/apis/early"
	"github.com/firesteel-dev/firesteel/pkg/apis/spark"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator"
	"github.com/firesteel-dev/firesteel/pkg/archive"
	"github.com/firesteel-dev/firesteel/pkg/console/api"
)

const (
	sparkApplications = "sparkapplications"
	// usageFile is the file with what an attempt used, of at most maxUsage bytes.
	usageFile, maxUsage = "usage.json", 64 << 10
	// maxAttempts bounds the attempts of one answer: the last ones are shown.
	maxAttempts = 100
	// readers bounds what one request reads of the archive, or asks of the API server, at once.
	readers = 8
)

// groups are the groups of the kinds of applications.
var groups = []string{spark.GroupName, sparkoperator.GroupName, early.GroupName}

// resources are the kinds of applications that the archive may have.
func resources() []string {
	var all []string
	for _, group := range groups {
		all = append(all, sparkApplications+"."+group)
	}
	return all
}

// archivedResources are all kinds that the archive may have. A list has clusters only if they are asked for.
func archivedResources() []string { return append(resources(), api.Clusters) }

// namespaces answers which namespaces have applications, or clusters, that the reader may list.
func (h *handler) namespaces(q *Request) error {
	names, err := h.archives.Namespaces(q.Context())
	if err != nil {
		return err
	}
	// Who may list the applications of all namespaces sees the names of all. What is in one is read with the right in that one.
	for _, resource := range archivedResources() {
		allowed, err := access.Allowed(q.Check(q.Context(), access.RightOn("list", resource, "", "")))
		if err != nil {
			return err
		}
		if allowed {
			return q.Write(api.Namespaces{Items: append([]string{}, names...)})
		}
	}
	readable := make([]bool, len(names))
	group, ctx := errgroup.WithContext(q.Context())
	group.SetLimit(readers)
	for i, name := range names {
		group.Go(func() error {
			for _, resource := range archivedResources() {
				allowed, err := access.Allowed(q.Check(ctx, access.RightOn("list", resource, name, "")))
				if err != nil || allowed {
					readable[i] = allowed
					return err
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	answer := api.Namespaces{Items: []string{}}
	for i, name := range names {
		if readable[i] {
			answer.Items = append(answer.Items, name)
		}
	}
	return q.Write(answer)
}

// list answers with a page of the applications of a namespace: of the kinds that the reader may list.
func (h *handler) list(q *Request) error {
	filter, page, err := q.selection()
	if err != nil {
		return err
	}
	wanted := resources()
	if filter.Resource != "" {
		wanted = []string{filter.Resource}
	}
	namespace := q.PathValue("namespace")
	var listed []string
	for _, resource := range wanted {
		allowed, err := access.Allowed(q.Check(q.Context(), access.RightOn("list", resource, namespace, "")))
		if err != nil {
			return err
		}
		if allowed {
			listed = append(listed, resource)
		}
	}
	missing := &notFoundError{what: "applications of the namespace " + namespace, needs: "list of " + strings.Join(wanted, " or ")}
	if len(listed) == 0 {
		return missing
	}
	from, err := h.open(q, missing)
	if err != nil {
		return err
	}
	if len(listed) == 1 {
		filter.Resource = listed[0]
	}
	found, err := from.List(q.Context(), from.namespace, filter, page)
	if err != nil {
		return err
	}
	return q.Write(pageOf(found.Items, found.Next, listed))
}

// selection reads the parameters of a list.
func (q *Request) selection() (filter archive.Filter, page archive.Page, err error) {
	parameters := q.URL.Query()
	for name := range parameters {
		if !slices.Contains([]string{"resource", "name", "state", "since", "until", "labelSelector", "limit", "continue"}, name) {
			return filter, page, Invalid("the parameter", name, "write resource, name, state, since, until, labelSelector, limit or continue")
		}
	}
	filter.Resource, filter.Name, filter.State = parameters.Get("resource"), parameters.Get("name"), parameters.Get("state")
	page.Token = parameters.Get("continue")
	if filter.Resource != "" && !slices.Contains(archivedResources(), filter.Resource) {
		return filter, page, Invalid("resource", filter.Resource, "write one of "+strings.Join(archivedResources(), ", "))
	}
	for name, at := range map[string]*time.Time{"since": &filter.Since, "until": &filter.Until} {
		if *at, err = TimeOf(name, parameters.Get(name)); err != nil {
			return filter, page, err
		}
	}
	if text := parameters.Get("labelSelector"); text != "" {
		if filter.Labels, err = labels.Parse(text); err != nil {
			return filter, page, Invalid("labelSelector", text, "write a selector such as team=reports")
		}
	}
	if text := parameters.Get("limit"); text != "" {
		if page.Limit, err = strconv.Atoi(text); err != nil || page.Limit < 1 {
			return filter, page, Invalid("limit", text, "write a number above 0")
		}
	}
	return filter, page, nil
}

// TimeOf reads the time of a parameter; zero if it is empty.
func TimeOf(parameter, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}, Invalid(parameter, text, "write a time such as 2026-01-31T12:00:00Z")
	}
	return at, nil
}

// pageOf returns the applications of some resources.
func pageOf(found []archive.Application, next string, of []string) api.Applications {
	page := api.Applications{Items: []api.Application{}, Continue: next}
	for i := range found {
		if slices.Contains(of, found[i].Resource) {
			page.Items = append(page.Items, applicationOf(&found[i]))
		}
	}
	return page
}

func applicationOf(app *archive.Application) api.Application {
	return api.Application{
		Namespace: app.Namespace, Resource: app.Resource, APIVersion: app.APIVersion, Kind: app.Kind, Name: app.Name, UID: string(app.UID),
		Labels: app.Labels, Created: app.Created, Ended: app.Ended, Attempt: app.Attempt, State: app.State, Outcome: app.Outcome, Message: app.Message,
	}
}

// application returns the archive and the ID of the application of a path, after the reader's right on it was checked.
func (h *handler) application(q *Request) (source, archive.ID, error) {
	resource, name := q.PathValue("resource"), q.PathValue("name")
	right := access.RightOn("get", resource, q.PathValue("namespace"), name)
	if err := q.allowedOn(right, resource); err != nil {
		return source{}, archive.ID{}, err
	}
	return h.find(q, &notFoundError{what: q.what(), needs: right.String()})
}

// allowedOn returns nil if the reader has a right and the resource of the path is a kind that the archive may have.
func (q *Request) allowedOn(right access.Right, resource string) error {
	if !slices.Contains(archivedResources(), resource) {
		return Invalid("the resource", resource, "write one of "+strings.Join(archivedResources(), ", "))
	}
	return q.allowed(right, q.what())
}

// what names what a request asks for.
func (q *Request) what() string {
	return fmt.Sprintf("%s %s/%s", q.PathValue("resource"), q.PathValue("namespace"), q.PathValue("name"))
}

// find returns the archive and the ID of the application of a path. The reader's rights were checked before.
func (h *handler) find(q *Request, missing error) (source, archive.ID, error) {
	from, err := h.open(q, missing)
	if err != nil {
		return source{}, archive.ID{}, err
	}
	return from, archive.ID{
		Namespace: from.namespace, Resource: q.PathValue("resource"), Name: q.PathValue("name"), UID: types.UID(q.PathValue("uid")),
	}, nil
}

// missing returns the answer to a request for something that the archive does not have.
func (q *Request) missing(err error, right access.Right) error {
	if archive.IsNotFound(err) {
		return &notFoundError{what: q.what(), needs: right.String()}
	}
	return err
}

// named answers with all applications that had a name.
func (h *handler) named(q *Request) error {
	from, id, err := h.application(q)
	if err != nil {
		return err
	}
	right := access.RightOn("get", id.Resource, id.Namespace.Name, id.Name)
	found, err := from.Find(q.Context(), id.Namespace, id.Resource, id.Name)
	if err != nil {
		return q.missing(err, right)
	}
	if len(found) == 0 {
		return &notFoundError{what: q.what(), needs: right.String()}
	}
	return q.Write(pageOf(found, "", []string{id.Resource}))
}

// details answers with an application and its attempts.
func (h *handler) details(q *Request) error {
	from, id, err := h.application(q)
	if err != nil {
		return err
	}
	right := access.RightOn("get", id.Resource, id.Namespace.Name, id.Name)
	app, err := from.Application(q.Context(), id)
	if err != nil {
		return q.missing(err, right)
	}
	numbers, err := from.Attempts(q.Context(), id)
	if err != nil {
		return q.missing(err, right)
	}
	numbers = numbers[max(len(numbers)-maxAttempts, 0):]
	answer := api.Details{Application: applicationOf(app), Attempts: make([]api.Attempt, len(numbers))}
	group, ctx := errgroup.WithContext(q.Context())
	group.SetLimit(readers)
	for i, number := range numbers {
		group.Go(func() (err error) {
			answer.Attempts[i], err = readAttempt(ctx, from.Attempt(id, number), number)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return q.missing(err, right)
	}
	return q.Write(answer)
}
