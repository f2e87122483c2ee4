package live

import (
	"cmp"
	"encoding/binary"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/firesteel-dev/firesteel/pkg/overview"
)

// order is an order of rows: by a number, or by a text.
type order struct {
	number func(now time.Time, r *Row) int64
	text   func(r *Row) string
}

func byTime(of func(*Row) time.Time) order {
	return order{number: func(_ time.Time, r *Row) int64 { return nanos(of(r)) }}
}

func byNumber(of func(*Row) int64) order {
	return order{number: func(_ time.Time, r *Row) int64 { return of(r) }}
}

func byText(of func(*Row) string) order { return order{text: of} }

// orders are the orders by the values of the parameter sort.
var orders = map[string]order{
	"created":   byTime(func(r *Row) time.Time { return r.Created }),
	"started":   byTime(func(r *Row) time.Time { return r.Started }),
	"ended":     byTime(func(r *Row) time.Time { return r.Ended }),
	"since":     byTime(func(r *Row) time.Time { return r.Since }),
	"duration":  {number: func(now time.Time, r *Row) int64 { return int64(r.Duration(now)) }},
	"attempt":   byNumber(func(r *Row) int64 { return r.Attempt }),
	"executors": byNumber(func(r *Row) int64 { return int64(r.Executors.Running) }),
	"usage":     byNumber((*Row).coreSeconds),
	"cost":      byNumber((*Row).millionths),
	"cpu":       byNumber(func(r *Row) int64 { return r.Requested.MilliCPU }),
	"name":      byText(func(r *Row) string { return r.Name }),
	"namespace": byText(func(r *Row) string { return r.Namespace }),
	"kind":      byText(func(r *Row) string { return r.Resource }),
	"state":     byText(func(r *Row) string { return r.State }),
	"outcome":   byText(func(r *Row) string { return string(r.Outcome) }),
	"user":      byText(func(r *Row) string { return r.User }),
	"team":      byText(func(r *Row) string { return r.Team }),
}

const defaultSort = "created"

// Sorts are the values of the parameter sort.
func Sorts() []string { return slices.Sorted(maps.Keys(orders)) }

// nanos returns a time as a number. No time is before all others.
func nanos(at time.Time) int64 {
	if at.IsZero() {
		return math.MinInt64
	}
	return at.UnixNano()
}

func (r *Row) coreSeconds() int64 {
	if r.Usage == nil {
		return 0
	}
	return r.Usage.CoreSeconds
}

// millionths returns the cost in millionths of the currency; zero if it is not known.
func (r *Row) millionths() int64 {
	if r.Usage == nil || r.Usage.Cost == nil {
		return 0
	}
	return int64(math.Round(r.Usage.Cost.Total * millionth))
}

// Page returns the rows of a query that a user sees.
func (l *Live) Page(see Visible, query Query) Page {
	return share(l, see, "page "+query.Values().Encode(), func() Page { return l.page(see, query) })
}

func (l *Live) page(see Visible, query Query) Page {
	limit := query.Limit
	if limit <= 0 || limit > MaxPageSize {
		limit = PageSize
	}
	m := newMatcher(&query.Filter, l.clock.Now())
	page := Page{Rows: []*Row{}}
	var rows []keyed
	sorted := query.order()
	l.mutex.RLock()
	l.groupsOf(see, &query.Filter, func(_ Group, g *group) {
		for _, e := range g.entries {
			switch {
			case !m.matches(e):
			case !query.AsOf.IsZero() && e.shown.Created.After(query.AsOf):
				page.Newer++
			default:
				rows = append(rows, keyed{sorted.key(m.now, e.shown), e.shown})
			}
		}
	})
	page.Cursor = l.changes.cursor(l.clock.Now())
	l.mutex.RUnlock()
	page.Total = len(rows)
	sorted.sort(rows, query.Ascending)
	for _, row := range rows[min(query.Offset, len(rows)):min(query.Offset+limit, len(rows))] {
		page.Rows = append(page.Rows, row.Row)
	}
	return page
}

// keyed is a row with its place in an order: most comparisons do not read the rows, which are all over the memory.
type keyed struct {
	key int64
	*Row
}

// order returns the order of the rows.
func (q *Query) order() order {
	if known, ok := orders[q.Sort]; ok {
		return known
	}
	return orders[defaultSort]
}

// key returns the place of a row: the number, or the beginning of the text.
func (o order) key(now time.Time, r *Row) int64 {
	if o.number != nil {
		return o.number(now, r)
	}
	var first [8]byte
	copy(first[:], o.text(r))
	return int64(binary.BigEndian.Uint64(first[:]) ^ 1<<63)
}

// sort sorts rows. No two are equal: those of the same place are sorted by their names.
func (o order) sort(rows []keyed, ascending bool) {
	sign := -1
	if ascending {
		sign = 1
	}
	slices.SortFunc(rows, func(a, b keyed) int {
		if a.key != b.key {
			return sign * cmp.Compare(a.key, b.key)
		}
		if o.text != nil {
			if compared := strings.Compare(o.text(a.Row), o.text(b.Row)); compared != 0 {
				return sign * compared
			}
		}
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name), strings.Compare(a.Resource, b.Resource))
	})
}

// matcher selects rows. What is the same for all rows is computed once.
type matcher struct {
	*Filter
	now    time.Time
	states map[string]bool
	text   string
}

func newMatcher(filter *Filter, now time.Time) *matcher {
	m := &matcher{Filter: filter, now: now, text: strings.ToLower(filter.Text)}
	if len(filter.States) > 0 {
		m.states = map[string]bool{}
		for _, state := range filter.States {
			m.states[strings.ToLower(state)] = true
		}
	}
	return m
}

func (m *matcher) matches(e *entry) bool {
	r := e.shown
	return (m.Noun == "" || m.Noun == r.Noun) &&
		(len(m.Outcomes) == 0 || slices.Contains(m.Outcomes, r.Outcome)) &&
		(m.states == nil || m.states[strings.ToLower(r.State)]) &&
		(m.Team == "" || m.Team == r.Team) && (m.User == "" || m.User == r.User) &&
		(m.Schedule == "" || m.Schedule == r.Schedule) && (m.Cause == "" || m.Cause == r.Cause) &&
		m.inTime(r) && m.flagged(r) &&
		(m.Labels == nil || m.Labels.Matches(labels.Set(r.Labels))) &&
		(m.text == "" || strings.Contains(e.found, m.text) || strings.Contains(strings.ToLower(r.Sentence), m.text))
}

// inTime reports whether an object existed, or had not ended, between both times.
func (m *matcher) inTime(r *Row) bool {
	ended := r.Noun == overview.Application && !r.Ended.IsZero() && (r.Over || r.Outcome == overview.Succeeded || r.Outcome == overview.Failed)
	return (m.Until.IsZero() || r.Created.Before(m.Until)) && (m.Since.IsZero() || !ended || !r.Ended.Before(m.Since))
}

func (m *matcher) flagged(r *Row) bool {
	for _, flag := range m.Flags {
		has := false
		switch flag {
		case FlagHeld:
			has = r.Held != nil
		case FlagLate:
			has = r.Late(m.now) > 0
		case FlagUndelivered:
			has = r.Undelivered(m.now) > 0
		case FlagSuspended:
			has = r.Suspended
		case FlagDeleting:
			has = r.Deleting
		case FlagForeign:
			has = r.Foreign
		}
		if !has {
			return false
		}
	}
	return true
}
