package pages

import (
	"fmt"
	"net/http"
	"net/url"

	"github.com/firesteel-dev/firesteel/pkg/apis/spark"
	"github.com/firesteel-dev/firesteel/pkg/console/live"
	"github.com/firesteel-dev/firesteel/pkg/overview"
)

// clusterResource is the only kind of clusters.
const clusterResource = "sparkclusters." + spark.GroupName

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
	Conditions []conditionView
	Pods       []podView
	PodsHidden bool
	Users      []rowView
	Requested  string
	Actions    *actionsView
	// Archive is the address of what the archive has of it; empty if there is no archive.
	Archive string
}

func (s *Server) cluster(v *view) error {
	ref := v.refOf()
	ref.Resource = clusterResource
	pods, err := v.mayGet(ref)
	if err != nil {
		return err
	}
	found, ok := s.options.Source.Cluster(v.see, ref, pods)
	if !ok {
		return s.archived(v, ref, nil)
	}
	if uid := v.URL.Query().Get(paramUID); v.URL.Query().Get(paramFrom) == fromArchive || uid != "" && uid != string(found.Row.UID) {
		return s.archived(v, ref, found.Row)
	}
	p := s.newPage(v.Request, ref.Name, "clusters")
	s.viewed(p, v.viewer)
	p.follow(found.Cursor, nil) // its users are objects of their own
	actions, err := p.actions(v, found.Row)
	if err != nil {
		return err
	}
	body := clusterView{
		Actions: actions,
		Row:     p.row(found.Row), Reasons: found.Reasons, Conditions: p.conditions(found.Conditions), Pods: p.pods(found.Pods), PodsHidden: found.PodsHidden,
		Users: p.rows(found.Users), Requested: resources(found.Row.Requested),
	}
	if v.viewer.Archive() != nil {
		body.Archive = p.Prefix + hrefOf(overview.Cluster, ref) + "?" + url.Values{paramFrom: {fromArchive}, paramUID: {string(found.Row.UID)}, "tab": {tabLogs}}.Encode()
	}
	p.Body = body
	p.Announce = fmt.Sprintf("%s: %s", ref.Name, found.Row.State)
	return render(v.w, v.Request, http.StatusOK, "cluster", p)
}
