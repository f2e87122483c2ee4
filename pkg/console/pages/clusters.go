package pages

import (
	"fmt"
	"net/http"
	"net/url"

	clusterresources "github.com/firesteel-dev/firesteel/pkg/cluster/resources"
	"github.com/firesteel-dev/firesteel/pkg/console/api"
	"github.com/firesteel-dev/firesteel/pkg/console/live"
	"github.com/firesteel-dev/firesteel/pkg/overview"
)

// maxClusters bounds the clusters of the page: the list has all.
const maxClusters = 500

type clustersView struct {
	Rows []rowView
	More string
	// Archive is the address of what is archived; empty if there is no archive.
	Archive string
}

func (s *Server) clusters(v *view) error {
	p := s.newPage(v.Request, "Clusters", "clusters")
	s.viewed(p, v.viewer)
	query := live.Query{Filter: live.Filter{Noun: overview.Cluster}, Sort: sortName, Ascending: true, Limit: maxClusters}
	found := s.options.Source.Page(v.see, query)
	p.follow(found.Cursor, nil)
	body := clustersView{Rows: p.rows(found.Rows)}
	if found.Total > len(found.Rows) {
		body.More = p.listed(map[string][]string{live.ParamKind: {string(overview.Cluster)}})
	}
	if v.viewer.Archive() != nil {
		body.Archive = p.archiveOf("", overview.Cluster)
	}
	p.Announce = plural(found.Total, "cluster", "clusters")
	p.Body = body
	return render(v.w, v.Request, http.StatusOK, "clusters", p)
}

type clusterView struct {
	Row        rowView
	Reasons    []live.Reason
	Facts      []factView
	Tabs       []link
	Tab        string
	Conditions []conditionView
	Pods       []podView
	PodsHidden bool
	Users      []rowView
	Actions    *actionsView
	// Kubernetes are the Kubernetes Events, Manifest is the object, Log a log. Only their tabs have them.
	Kubernetes *eventsView
	Manifest   *manifestView
	Log        *logView
	// Archive is the address of what the archive has of it; empty if there is no archive.
	Archive string
}

// clusterTabs are those of a cluster that is there.
var clusterTabs = []tab{{tabTimeline, "Pods and users"}, {tabLogs, "Logs"}, {tabEvents, "Events"}, {tabYAML, "YAML"}}

func (s *Server) cluster(v *view) error {
	ref := v.refOf()
	ref.Resource = api.Clusters
	pods, err := v.mayGet(ref)
	if err != nil {
		return err
	}
	found, ok := s.options.Source.Cluster(v.see, ref, pods)
	if !ok {
		return s.archived(v, ref, nil)
	}
	row := found.Row
	if uid := v.URL.Query().Get(paramUID); v.URL.Query().Get(paramFrom) == fromArchive || uid != "" && uid != string(row.UID) {
		return s.archived(v, ref, row)
	}
	p := s.newPage(v.Request, ref.Name, "clusters")
	s.viewed(p, v.viewer)
	p.follow(found.Cursor, nil) // its users are objects of their own
	body := clusterView{
		Row: p.row(row), Reasons: found.Reasons, Facts: p.factsOfCluster(row), PodsHidden: found.PodsHidden,
	}
	if body.Actions, err = p.actions(v, row); err != nil {
		return err
	}
	href := p.Prefix + hrefOf(overview.Cluster, ref)
	if v.viewer.Archive() != nil {
		body.Archive = href + "?" + url.Values{paramFrom: {fromArchive}, paramUID: {string(row.UID)}, "tab": {tabLogs}}.Encode()
	}
	switch body.Tabs, body.Tab = tabs(clusterTabs, v.URL.Query().Get("tab"), href, nil); body.Tab {
	case tabLogs:
		p.slow()
		p.Scripts = []string{"logs.js"}
		body.Log, err = s.logOf(v, row, found.Pods, found.PodsHidden, href)
	case tabEvents:
		body.Kubernetes, err = p.kubernetesEvents(v, row, found.Pods)
	case tabYAML:
		p.slow()
		body.Manifest, err = s.manifest(v, row)
	default:
		body.Pods, body.Users, body.Conditions = p.pods(found.Pods), p.rows(found.Users), p.conditions(found.Conditions)
	}
	if err != nil {
		return err
	}
	p.Body = body
	p.Announce = fmt.Sprintf("%s: %s", ref.Name, row.State)
	return render(v.w, v.Request, http.StatusOK, "cluster", p)
}

// factsOfCluster returns what is said of a cluster beside its state.
func (p *page) factsOfCluster(r *live.Row) []factView {
	return knownFacts([]factView{
		{Name: "Created", Time: p.clock.ago(r.Created)},
		{Name: "In this state for", Time: p.clock.ago(r.Since), Lasts: true},
		{Name: "Workers", Text: executorsText(r.Executors)},
		{Name: "Requests", Text: resources(r.Requested)},
		{Name: "Master", Text: fmt.Sprintf("spark://%s.%s:%d", clusterresources.MasterServiceName(r.Name), r.Namespace, clusterresources.MasterPort), Mono: true},
		{Name: "Team", Text: r.Team, Href: p.listed(url.Values{live.ParamTeam: {r.Team}})},
		{Name: "User", Text: r.User, Href: p.listed(url.Values{live.ParamUser: {r.User}})},
	})
}
