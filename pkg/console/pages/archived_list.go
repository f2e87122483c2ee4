package pages

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/firesteel-dev/firesteel/pkg/console/api"
	"github.com/firesteel-dev/firesteel/pkg/console/live"
	"github.com/firesteel-dev/firesteel/pkg/overview"
)

// The parameters of the table of what is archived.
const (
	paramNamespace = "namespace"
	paramResource  = "resource"
	paramName      = "name"
	paramState     = "state"
	paramLabels    = "labelSelector"
	paramContinue  = "continue"
)

const (
	// archivePage is how many applications a page of the archive has, and archiveTimeout bounds what a page reads of it.
	archivePage    = 100
	archiveTimeout = 20 * time.Second
	// maxNamespaces bounds the namespaces that are offered.
	maxNamespaces = 60
)

// archiveView is the table of what the archive has of a namespace.
type archiveView struct {
	// Noun is application or cluster: what is listed. Section is the part of the console that it belongs to, and Top the address of the table of no namespace.
	Noun                           string
	Section                        link
	Top                            string
	Namespace, Name, State, Labels string
	Pickers                        []picker
	Rows                           []archivedRow
	// Namespaces are those that the viewer may choose; empty if one is chosen.
	Namespaces []link
	// Clear removes all filters but the namespace. Next leads to the next page, First to the first one; empty if there is none.
	Clear, Next, First string
	// Problem says why nothing is listed.
	Problem string
}

// archivedRow is an application, or a cluster, in the table.
type archivedRow struct {
	ID, Href, Name, Kind, API string
	Status                    status
	Attempt, Message          string
	Created, Ended            instant
}

// archive lists what the archive has of a namespace. It lists one namespace, since the archive has an index for each, and none for all.
func (s *Server) archive(v *view) error {
	values := v.URL.Query()
	text := func(name string) string { return strings.TrimSpace(values.Get(name)) }
	noun := overview.Application
	if text(paramResource) == api.Clusters {
		noun = overview.Cluster
	}
	section := sectionOf(noun)
	p := s.newPage(v.Request, "Archived "+section.name, section.name)
	s.viewed(p, v.viewer)
	body := archiveView{Noun: string(noun), Section: p.linkTo(section), Top: p.archiveOf("", noun), Namespace: text(paramNamespace), Name: text(paramName), State: text(paramState), Labels: text(paramLabels)}
	resource, within := text(paramResource), text(paramAge)
	body.Pickers = []picker{pick("API", paramResource, "All", []string{resource}, archivedResources()), ages("Created", within)}
	body.Clear = p.archiveOf(body.Namespace, noun)
	store := v.viewer.Archive()
	switch {
	case store == nil:
		body.Problem = "This installation has no archive: what was deleted is not known any more."
	case body.Namespace == "":
		body.Namespaces = s.namespacesOf(v, p, noun)
	default:
		filter := api.Filter{Resource: resource, Name: body.Name, State: body.State, LabelSelector: body.Labels, Limit: archivePage, Since: sinceOf(within, p.clock.now)}
		ctx, cancel := context.WithTimeout(v.Context(), archiveTimeout)
		defer cancel()
		found, err := store.List(ctx, body.Namespace, filter, values.Get(paramContinue))
		if problem, ok := explained(err); ok {
			body.Problem = problem
		} else if err != nil {
			return err
		} else {
			body.take(p, found, values)
		}
	}
	p.Announce = plural(len(body.Rows), body.Noun, section.name) + " on this page"
	p.Body = body
	return render(v.w, v.Request, http.StatusOK, "archive", p)
}

// take takes a page of applications.
func (b *archiveView) take(p *page, found *api.Applications, values url.Values) {
	for i := range found.Items {
		b.Rows = append(b.Rows, p.archivedRow(&found.Items[i]))
	}
	address := func(token string) string {
		values := maps.Clone(values)
		values.Del(paramContinue)
		if token != "" {
			values.Set(paramContinue, token)
		}
		return p.Prefix + "/archive?" + values.Encode()
	}
	if found.Continue != "" {
		b.Next = address(found.Continue)
	}
	if values.Get(paramContinue) != "" {
		b.First = address("")
	}
}

// archiveOf returns the address of the applications or clusters that the archive has of a namespace.
func (p *page) archiveOf(namespace string, noun overview.Kind) string {
	values := url.Values{}
	if namespace != "" {
		values.Set(paramNamespace, namespace)
	}
	if noun == overview.Cluster {
		values.Set(paramResource, api.Clusters)
	}
	if len(values) == 0 {
		return p.Prefix + "/archive"
	}
	return p.Prefix + "/archive?" + values.Encode()
}

// namespacesOf returns the namespaces with objects that the viewer may see. Others may be written into the form.
func (s *Server) namespacesOf(v *view, p *page, noun overview.Kind) []link {
	known := s.options.Source.Overview(v.see, p.clock.now).Namespaces
	var links []link
	for _, name := range slices.Sorted(maps.Keys(known)) {
		if len(links) < maxNamespaces {
			links = append(links, link{Text: name, Href: p.archiveOf(name, noun)})
		}
	}
	return links
}

func (p *page) archivedRow(app *api.Application) archivedRow {
	ref := live.Ref{Namespace: app.Namespace, Resource: app.Resource, Name: app.Name}
	noun, _ := live.NounOf(app.Resource)
	row := archivedRow{
		ID: "archived-" + app.UID, Name: app.Name, Kind: app.Kind, API: apiOf(app.Resource), Status: archivedStatus(app),
		Href:    p.Prefix + hrefOf(noun, ref) + "?" + url.Values{paramUID: {app.UID}}.Encode(),
		Attempt: attemptOf(app.Attempt), Message: app.Message, Created: p.clock.ago(app.Created), Ended: instant{Text: "–"},
	}
	if app.Ended != nil {
		row.Ended = p.clock.ago(*app.Ended)
	}
	return row
}

// archivedStatus returns the status of an application, or a cluster, in the archive.
func archivedStatus(of *api.Application) status {
	switch {
	case isGoneCluster(of):
		return status{Icon: "deleted", Tone: "waiting", Word: "Gone", State: "Gone, was " + cmp.Or(of.State, "New")}
	case of.Outcome == "":
		return status{Icon: "waiting", Tone: "waiting", Word: "Not ended", State: of.State}
	}
	return statusOf(archivedOutcome(of.Outcome), of.State)
}

// archivedResources returns the resources of applications and clusters.
func archivedResources() []string {
	return slices.DeleteFunc(live.ResourceNames(), func(resource string) bool {
		noun, _ := live.NounOf(resource)
		return noun == overview.Schedule
	})
}

// ages returns the filter of an age.
func ages(label, chosen string) picker {
	p := picker{Label: label, Name: paramAge, Options: []option{{"", "At any time", chosen == ""}}}
	for _, known := range withins {
		p.Options = append(p.Options, option{known.name, "In the " + known.text, known.name == chosen})
	}
	return p
}

// sinceOf returns the beginning of an age; zero for none.
func sinceOf(within string, now time.Time) time.Time {
	for _, known := range withins {
		if known.name == within {
			return now.Add(-known.length)
		}
	}
	return time.Time{}
}

// explained returns what the archive says about a request that it refuses, and whether it does: the request is wrong, or the viewer may not read that.
func explained(err error) (problem string, ok bool) {
	var answer *api.Error
	if errors.As(err, &answer) && answer.Code < http.StatusInternalServerError && answer.Code != http.StatusUnauthorized {
		return answer.Message, true
	}
	return "", false
}
