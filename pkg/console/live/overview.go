package live

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/firesteel-dev/firesteel/pkg/overview"
)

const (
	// seriesFor is how long back the series goes, and loads is how many values it has.
	seriesFor, loads = 24 * time.Hour, 288
	// overviewRows bounds each list of rows of an overview, overviewFeed its transitions, and overviewCauses its causes.
	overviewRows, overviewFeed, overviewCauses = 20, 50, 20
	// overviewNamespaces bounds the namespaces, and the teams, that are counted one by one: the first by their names.
	overviewNamespaces = 1000
)

// Overview sums up what a user sees. since is the beginning of the time in which ended applications are counted, such as the day's.
func (l *Live) Overview(see Visible, since time.Time) Overview {
	return share(l, see, "overview "+since.UTC().Format(time.RFC3339), func() Overview { return l.overview(see, since) })
}

func (l *Live) overview(see Visible, since time.Time) Overview {
	now := l.clock.Now()
	s := summary{
		Overview: Overview{KnownSince: l.started}, now: now, since: since,
		causes: map[string]*CauseCount{}, namespaces: map[string]*Counts{}, teams: map[string]*Counts{}, series: newSeries(now),
	}
	l.mutex.RLock()
	defer l.mutex.RUnlock()
	l.groupsOf(see, &Filter{}, func(key Group, g *group) {
		var all Counts
		for _, e := range g.entries {
			s.add(e, &all)
		}
		of(s.namespaces, key.Namespace).add(&all)
		s.Total.add(&all)
		for _, past := range g.past {
			s.series.add(past)
		}
		for i := range g.feed {
			s.feed = append(s.feed, feedPlace{g.feed[i].At.UnixNano(), &g.feed[i]})
		}
	})
	s.Cursor = l.changes.cursor(l.clock.Now())
	return s.finish(l.options.Settings().Prices)
}

// summary is an overview that is made.
type summary struct {
	Overview
	now, since time.Time
	causes     map[string]*CauseCount
	namespaces map[string]*Counts
	teams      map[string]*Counts
	series     *series
	feed       []feedPlace
}

// feedPlace is a transition with its time: a sort of many does not move them.
type feedPlace struct {
	at int64
	*FeedItem
}

// add counts an object, also among those of its group.
func (s *summary) add(e *entry, all *Counts) {
	r := e.shown
	var c Counts
	switch r.Noun {
	case overview.Application:
		s.count(r, &c)
		for _, one := range e.spans {
			s.series.add(one)
		}
	case overview.Schedule:
		if r.Late(s.now) > 0 {
			c.Late = 1
			s.Late = append(s.Late, r)
		}
	}
	if c.Undelivered = r.Undelivered(s.now); c.Undelivered > 0 {
		s.Undelivered = append(s.Undelivered, r)
	}
	c.Requested = r.Requested
	all.add(&c)
	if r.Team != "" {
		of(s.teams, r.Team).add(&c)
	}
}

// of returns the counts under a name.
func of(all map[string]*Counts, name string) *Counts {
	counts := all[name]
	if counts == nil {
		counts = &Counts{}
		all[name] = counts
	}
	return counts
}

// count counts an application.
func (s *summary) count(r *Row, c *Counts) {
	ended := !r.Ended.Before(s.since)
	switch {
	case r.Outcome == overview.Running:
		c.Running = 1
	case r.Outcome == overview.Waiting:
		c.Waiting = 1
	case r.Outcome == overview.Succeeded && ended:
		c.Succeeded = 1
	case r.Outcome == overview.Failed && ended:
		c.Failed = 1
		cause := cmp.Or(r.Cause, r.Reason, r.State)
		of := s.causes[cause]
		if of == nil {
			of = &CauseCount{Cause: cause, Last: r}
			s.causes[cause] = of
		}
		of.Count++
		if r.Ended.After(of.Last.Ended) {
			of.Last = r
		}
	}
	if r.Held != nil {
		c.Held, c.HeldResources = 1, r.Held.Resources
	}
	if c.Running+c.Waiting+c.Succeeded+c.Failed > 0 && r.Usage != nil {
		c.Usage = Usage{CoreSeconds: r.Usage.CoreSeconds, MebibyteSeconds: r.Usage.MebibyteSeconds, GPUSeconds: r.Usage.GPUSeconds}
	}
}

func (c *Counts) add(other *Counts) {
	c.Running += other.Running
	c.Waiting += other.Waiting
	c.Succeeded += other.Succeeded
	c.Failed += other.Failed
	c.Held += other.Held
	c.HeldResources = c.HeldResources.plus(other.HeldResources)
	c.Requested = c.Requested.plus(other.Requested)
	c.Undelivered += other.Undelivered
	c.Late += other.Late
	c.Usage.CoreSeconds += other.Usage.CoreSeconds
	c.Usage.MebibyteSeconds += other.Usage.MebibyteSeconds
	c.Usage.GPUSeconds += other.Usage.GPUSeconds
}

func (s *summary) finish(prices Prices) Overview {
	o := s.Overview
	o.Total.Usage.Cost = prices.Of(&o.Total.Usage)
	o.Series, o.Causes = s.series.loads(), []CauseCount{}
	for _, of := range s.causes {
		o.Causes = append(o.Causes, *of)
	}
	slices.SortFunc(o.Causes, func(a, b CauseCount) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Cause, b.Cause)) })
	o.Causes = o.Causes[:min(len(o.Causes), overviewCauses)]
	slices.SortFunc(s.feed, func(a, b feedPlace) int {
		if a.at != b.at {
			return cmp.Compare(b.at, a.at)
		}
		return cmp.Compare(a.Name, b.Name)
	})
	o.Feed = []FeedItem{}
	for _, place := range s.feed[:min(len(s.feed), overviewFeed)] {
		o.Feed = append(o.Feed, *place.FeedItem)
	}
	slices.SortFunc(o.Late, func(a, b *Row) int { return cmp.Compare(b.Late(s.now), a.Late(s.now)) })
	o.Late = listed(o.Late, overviewRows)
	slices.SortFunc(o.Undelivered, func(a, b *Row) int { return a.UnacknowledgedSince.Compare(b.UnacknowledgedSince) })
	o.Undelivered = listed(o.Undelivered, overviewRows)
	o.Namespaces, o.Teams = bound(s.namespaces, prices), bound(s.teams, prices)
	return o
}

// listed returns the first of a list, which is not nil.
func listed[T any](all []T, most int) []T {
	return append([]T{}, all[:min(len(all), most)]...)
}

// bound returns the first counts by their names, with what their usage costs.
func bound(counts map[string]*Counts, prices Prices) map[string]Counts {
	names := slices.Sorted(maps.Keys(counts))
	bounded := map[string]Counts{}
	for _, name := range names[:min(len(names), overviewNamespaces)] {
		c := *counts[name]
		c.Usage.Cost = prices.Of(&c.Usage)
		bounded[name] = c
	}
	return bounded
}

// series counts the spans that cover each of its instants.
type series struct {
	from, until time.Time
	step        time.Duration
	// changes are how the numbers change at an instant.
	running, waiting [loads + 1]int
}

func newSeries(now time.Time) *series {
	step := seriesFor / loads
	until := now.Truncate(step)
	return &series{from: until.Add(-seriesFor + step), until: until, step: step}
}

// add counts a span. The last value is that of the present: what lasts covers it.
func (s *series) add(one span) {
	first := s.index(one.from)
	end := loads
	if !one.until.IsZero() {
		end = s.index(one.until)
	}
	if first >= end {
		return
	}
	changes := &s.waiting
	if one.running {
		changes = &s.running
	}
	changes[first]++
	changes[end]--
}

// index returns the first instant that is not before a time.
func (s *series) index(at time.Time) int {
	if !at.After(s.from) {
		return 0
	}
	return min(int((at.Sub(s.from)+s.step-1)/s.step), loads-1)
}

func (s *series) loads() []Load {
	all := make([]Load, loads)
	running, waiting := 0, 0
	for i := range all {
		running, waiting = running+s.running[i], waiting+s.waiting[i]
		all[i] = Load{At: s.from.Add(time.Duration(i) * s.step).UTC(), Running: running, Waiting: waiting}
	}
	return all
}
