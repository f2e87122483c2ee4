package pages

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/firesteel-dev/firesteel/pkg/console/live"
	"github.com/firesteel-dev/firesteel/pkg/overview"
)

// The bounds of what the overview shows. The list has the rest.
const (
	maxGroups = 12
	maxCauses = 6
	maxFeed   = 14
	maxLate   = 8
)

// spans are the times that the overview can count over, the default first.
var spans = []struct {
	Name, Text string
	Length     time.Duration
}{
	{"24h", "24 hours", 24 * time.Hour}, {"7d", "7 days", 7 * 24 * time.Hour}, {"1h", "1 hour", time.Hour},
}

// tile is a number of the overview that leads to the rows it counts.
type tile struct {
	Status status
	Label  string
	Value  string
	Note   string
	Href   string
	// Quiet reports whether the number is zero and good.
	Quiet bool
}

// groupView is a line of a table by namespace or by team.
type groupView struct {
	Name, Href                          string
	Running, Waiting, Succeeded, Failed int
	Held                                int
	Requested, Cost                     string
	// Shares are the parts of a bar, from 0 to 1.
	Shares []share
}

// groupsView is a table of groups. Priced reports whether costs are known.
type groupsView struct {
	Rows   []groupView
	Priced bool
}

type share struct {
	Start, Width float64
	Tone         string
}

type causeView struct {
	Cause string
	Count string
	Href  string
	Last  rowView
}

type feedView struct {
	ID              string
	At              instant
	Status          status
	Namespace, Name string
	Href            string
	Message         string
}

type overviewView struct {
	Span       string
	Spans      []link
	Tiles      []tile
	Load       chart
	KnownSince instant
	// Archive is the address of what is archived; empty if there is no archive.
	Archive     string
	Causes      []causeView
	MoreCauses  int
	Namespaces  groupsView
	Teams       groupsView
	Late        []rowView
	Undelivered []rowView
	Feed        []feedView
	Capacity    []fact
	// Used reports whether usage is among the facts about the capacity.
	Used bool
}

// fact is a name and a value.
type fact struct{ Name, Value string }

func (s *Server) overview(v *view) error {
	span := spans[0]
	for _, known := range spans {
		if v.URL.Query().Get("span") == known.Name {
			span = known
		}
	}
	p := s.newPage(v.Request, "Overview", "overview")
	s.viewed(p, v.viewer)
	since := p.clock.now.Add(-span.Length)
	o := s.options.Source.Overview(v.see, since)
	p.follow(o.Cursor, nil)
	p.Scripts = []string{"charts.js"}
	body := overviewView{Span: span.Text, Tiles: p.tiles(&o, span.Text, since), Capacity: capacityOf(&o), Used: isUsed(&o.Total)}
	for _, known := range spans {
		body.Spans = append(body.Spans, link{known.Text, p.Prefix + "/?span=" + known.Name, known.Name == span.Name})
	}
	body.Load = loadChart(o.Series, max(since.UnixMilli(), o.KnownSince.UnixMilli()), p.clock.now)
	if o.KnownSince.After(since) {
		body.KnownSince = p.clock.ago(o.KnownSince)
	}
	if v.viewer.Archive() != nil {
		body.Archive = p.archiveOf("", overview.Application)
	}
	for i := range o.Causes[:min(len(o.Causes), maxCauses)] {
		c := &o.Causes[i]
		view := causeView{Cause: c.Cause, Count: number(int64(c.Count)), Href: p.listed(url.Values{live.ParamOutcome: {"failed"}, live.ParamCause: {c.Cause}})}
		if c.Last != nil {
			view.Last = p.row(c.Last)
		}
		body.Causes = append(body.Causes, view)
	}
	body.MoreCauses = max(len(o.Causes)-maxCauses, 0)
	priced := o.Total.Usage.Cost != nil
	body.Namespaces, body.Teams = groupsView{p.groups(o.Namespaces, live.ParamNamespace), priced}, groupsView{p.groups(o.Teams, live.ParamTeam), priced}
	body.Late = p.rows(o.Late[:min(len(o.Late), maxLate)])
	body.Undelivered = p.rows(o.Undelivered[:min(len(o.Undelivered), maxLate)])
	for i := range o.Feed[:min(len(o.Feed), maxFeed)] {
		body.Feed = append(body.Feed, p.feed(&o.Feed[i]))
	}
	p.Announce = fmt.Sprintf("%d running, %d waiting, %d failed in the last %s", o.Total.Running, o.Total.Waiting, o.Total.Failed, span.Text)
	p.Body = body
	return render(v.w, v.Request, http.StatusOK, "overview", p)
}

// listed returns the address of a list.
func (p *page) listed(values url.Values) string { return p.Prefix + "/applications?" + values.Encode() }

func (p *page) tiles(o *live.Overview, span string, since time.Time) []tile {
	applications := func(pairs ...string) string {
		values := url.Values{live.ParamKind: {string(overview.Application)}}
		for i := 0; i < len(pairs); i += 2 {
			values.Set(pairs[i], pairs[i+1])
		}
		return p.listed(values)
	}
	from := since.UTC().Format(time.RFC3339)
	last := "in the last " + span
	return []tile{
		{Status: outcomes[overview.Running], Label: "Running", Value: number(int64(o.Total.Running)), Note: cmp.Or(resources(o.Total.Requested), "nothing requested"), Href: applications("outcome", "running")},
		{Status: outcomes[overview.Waiting], Label: "Waiting", Value: number(int64(o.Total.Waiting)), Note: heldNote(o.Total), Href: applications("outcome", "waiting")},
		{Status: outcomes[overview.Failed], Label: "Failed", Value: number(int64(o.Total.Failed)), Note: last, Href: applications("outcome", "failed", "since", from), Quiet: o.Total.Failed == 0},
		{Status: outcomes[overview.Succeeded], Label: "Succeeded", Value: number(int64(o.Total.Succeeded)), Note: last, Href: applications("outcome", "succeeded", "since", from)},
		{Status: status{Icon: "waiting", Tone: "failed", Word: "Late"}, Label: "Late schedules", Value: number(int64(o.Total.Late)), Note: "due and not started", Href: p.listed(url.Values{"flag": {"late"}}), Quiet: o.Total.Late == 0},
		{Status: status{Icon: "warning", Tone: "warning", Word: "Undelivered"}, Label: "Undelivered events", Value: number(int64(o.Total.Undelivered)), Note: "older than a minute", Href: p.listed(url.Values{"flag": {"undelivered"}}), Quiet: o.Total.Undelivered == 0},
	}
}

func heldNote(c live.Counts) string {
	if c.Held == 0 {
		return "none held by quota"
	}
	return number(int64(c.Held)) + " held by quota"
}

func capacityOf(o *live.Overview) []fact {
	facts := []fact{
		{"Requested by what runs", cmp.Or(resources(o.Total.Requested), "nothing")},
		{"Asked for and held by quota", cmp.Or(resources(o.Total.HeldResources), "nothing")},
	}
	if isUsed(&o.Total) {
		facts = append(facts, fact{"Used", amountOf(&o.Total.Usage)})
		if cost := costOf(&o.Total.Usage); cost != "" {
			facts = append(facts, fact{"Cost", cost})
		}
	}
	return facts
}

// isUsed reports whether something that is counted has used something.
func isUsed(c *live.Counts) bool { return c.Usage.CoreSeconds+c.Usage.MebibyteSeconds > 0 }

// groups returns the groups with the most that needs attention first.
func (p *page) groups(counts map[string]live.Counts, parameter string) []groupView {
	names := slices.Collect(maps.Keys(counts))
	weight := func(name string) int { c := counts[name]; return c.Running + c.Waiting + c.Failed }
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b].Failed, counts[a].Failed), cmp.Compare(weight(b), weight(a)), strings.Compare(a, b))
	})
	var views []groupView
	for _, name := range names[:min(len(names), maxGroups)] {
		c := counts[name]
		g := groupView{
			Name: name, Href: p.listed(url.Values{parameter: {name}}), Running: c.Running, Waiting: c.Waiting, Succeeded: c.Succeeded, Failed: c.Failed, Held: c.Held,
			Requested: resources(c.Requested), Cost: "–",
		}
		if isUsed(&c) {
			g.Cost = costOf(&c.Usage)
		}
		start, sum := 0.0, float64(c.Running+c.Waiting+c.Succeeded+c.Failed)
		for _, part := range []struct {
			n    int
			tone string
		}{{c.Failed, "failed"}, {c.Waiting, "waiting"}, {c.Running, "running"}, {c.Succeeded, "succeeded"}} {
			if part.n > 0 {
				width := float64(part.n) / sum
				g.Shares = append(g.Shares, share{start, width, part.tone})
				start += width
			}
		}
		views = append(views, g)
	}
	return views
}

func (p *page) feed(f *live.FeedItem) feedView {
	return feedView{
		ID: fmt.Sprintf("feed-%s-%d-%s", f.UID, f.At.UnixMicro(), f.State), At: p.clock.ago(f.At), Status: statusOf(f.Outcome, f.State), Namespace: f.Namespace, Name: f.Name,
		Href: p.Prefix + hrefOf(f.Noun, f.Ref), Message: f.Message,
	}
}
