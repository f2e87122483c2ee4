package pages

import (
	"cmp"
	"strings"
	"time"

	"github.com/firesteel-dev/firesteel/pkg/console/act"
	"github.com/firesteel-dev/firesteel/pkg/console/live"
	"github.com/firesteel-dev/firesteel/pkg/overview"
)

// rowView is a row of a table.
type rowView struct {
	ID, Href           string
	Status             status
	Namespace, Name    string
	Kind, API          string
	Team, User         string
	Attempt, Executors string
	Created, Ended     instant
	Duration, Why      string
	Cost               string
	Notes              []string
}

// hrefOf returns the path of an object's page below the console's root.
func hrefOf(noun overview.Kind, ref live.Ref) string { return act.Ref(ref).Page(noun) }

func (p *page) row(r *live.Row) rowView {
	v := rowView{
		ID: "row-" + string(r.UID), Href: p.Prefix + hrefOf(r.Noun, r.Ref), Status: rowStatus(r), Namespace: r.Namespace, Name: r.Name,
		Kind: string(r.Noun), API: apiOf(r.Resource), Team: r.Team, User: r.User, Attempt: attemptOf(r.Attempt), Executors: executorsOf(r.Executors),
		Created: p.clock.ago(r.Created), Ended: p.clock.ago(r.Ended), Duration: short(r.Duration(p.clock.now)),
		Why: r.Sentence, Cost: cmp.Or(costOf(r.Usage), "–"),
	}
	if ended(r.Outcome) && r.Noun == overview.Application {
		v.Executors = "–"
		if r.Usage != nil && r.Usage.PeakExecutors > 0 {
			v.Executors = number(r.Usage.PeakExecutors)
		}
	}
	if r.Deleting {
		v.Notes = append(v.Notes, "being deleted")
	}
	if r.Suspended && !ended(r.Outcome) && !strings.EqualFold(r.State, "suspended") {
		v.Notes = append(v.Notes, "suspended")
	}
	if r.Foreign {
		v.Notes = append(v.Notes, "another operator's")
	}
	if n := r.Undelivered(p.clock.now); n > 0 {
		v.Notes = append(v.Notes, plural(n, "undelivered event", "undelivered events"))
	}
	if late := r.Late(p.clock.now); late > 0 {
		v.Notes = append(v.Notes, "late by "+short(late.Round(time.Second)))
	}
	return v
}

func (p *page) rows(rows []*live.Row) []rowView {
	views := make([]rowView, 0, len(rows))
	for _, r := range rows {
		views = append(views, p.row(r))
	}
	return views
}
