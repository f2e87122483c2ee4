package pages

import (
	"github.com/firesteel-dev/firesteel/pkg/console/api"
	"github.com/firesteel-dev/firesteel/pkg/console/live"
	"github.com/firesteel-dev/firesteel/pkg/overview"
)

// archivedClusterTabs are the tabs of a cluster that the archive has.
var archivedClusterTabs = []tab{{tabTimeline, "Timeline"}, {tabLogs, "Logs"}, {tabEvents, "Events"}, {tabYAML, "YAML"}}

// isCluster reports whether it is a cluster: all that is stored of it belongs to its attempt 0.
func (a *archived) isCluster() bool { return a.noun == overview.Cluster }

// tabs returns the tabs of the page.
func (a *archived) tabs() []tab {
	if a.isCluster() {
		return archivedClusterTabs
	}
	return archivedTabs
}

// describeCluster says of a cluster what the archive has. Its object is as it was when it was there last, and so no state lasts any more.
func (a *archived) describeCluster(p *page, body *applicationView, found *live.Details) {
	row := found.Row
	body.Facts = []factView{{Name: "Created", Time: p.clock.ago(row.Created)}}
	if body.Archived.Living == "" {
		body.Row.Status = archivedStatus(&a.Application)
	}
	if a.shown == nil || a.shown.Archived == nil {
		return
	}
	gone := *a.shown.Archived
	body.Facts = append(body.Facts, factView{Name: "Existed for", Text: short(gone.Sub(row.Created))}, factView{Name: "Last state for", Text: short(gone.Sub(row.Since))})
	for _, fact := range []factView{{Name: "Last message", Text: a.Message}, {Name: "Team", Text: row.Team}, {Name: "User", Text: row.User}} {
		if fact.Text != "" {
			body.Facts = append(body.Facts, fact)
		}
	}
	for i := range found.Attempts {
		attempt := &found.Attempts[i]
		if attempt.Ended = gone; i+1 < len(found.Attempts) {
			attempt.Ended = found.Attempts[i+1].Began
		}
		if last := len(attempt.Transitions) - 1; last >= 0 {
			attempt.Transitions[last].Lasted = max(attempt.Ended.Sub(attempt.Transitions[last].At), 0).Milliseconds()
		}
	}
}

// isGoneCluster reports whether an entry of the archive is a cluster that is gone.
func isGoneCluster(of *api.Application) bool {
	noun, _ := live.NounOf(of.Resource)
	return noun == overview.Cluster && of.Ended != nil
}
