package live

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/firesteel-dev/firesteel/pkg/overview"
)

// orders compare rows by the values of the parameter sort.
var orders = map[string]func(now time.Time, a, b *Row) int{
	"created":   func(_ time.Time, a, b *Row) int { return a.Created.Compare(b.Created) },
	"started":   func(_ time.Time, a, b *Row) int { return a.Started.Compare(b.Started) },
	"ended":     func(_ time.Time, a, b *Row) int { return a.Ended.Compare(b.Ended) },
	"since":     func(_ time.Time, a, b *Row) int { return a.Since.Compare(b.Since) },
	"duration":  func(now time.Time, a, b *Row) int { return cmp.Compare(a.Duration(now), b.Duration(now)) },
	"name":      func(_ time.Time, a, b *Row) int { return cmp.Compare(a.Name, b.Name) },
	"namespace": func(_ time.Time, a, b *Row) int { return cmp.Compare(a.Namespace, b.Namespace) },
	"kind": func(_ time.Time, a, b *Row) int {
		return cmp.Or(cmp.Compare(a.Noun, b.Noun), cmp.Compare(a.Resource, b.Resource))
	},
	"state":     func(_ time.Time, a, b *Row) int { return cmp.Compare(a.State, b.State) },
	"outcome":   func(_ time.Time, a, b *Row) int { return cmp.Compare(a.Outcome, b.Outcome) },
	"attempt":   func(_ time.Time, a, b *Row) int { return cmp.Compare(a.Attempt, b.Attempt) },
	"executors": func(_ time.Time, a, b *Row) int { return cmp.Compare(a.Executors.Running, b.Executors.Running) },
	"usage":     func(_ time.Time, a, b *Row) int { return cmp.Compare(a.coreSeconds(), b.coreSeconds()) },
	"cpu":       func(_ time.Time, a, b *Row) int { return cmp.Compare(a.Requested.MilliCPU, b.Requested.MilliCPU) },
	"user":      func(_ time.Time, a, b *Row) int { return cmp.Compare(a.User, b.User) },
	"team":      func(_ time.Time, a, b *Row) int { return cmp.Compare(a.Team, b.Team) },
}

const defaultSort = "created"

// Sorts are the values of the parameter sort.
func Sorts() []string { return slices.Sorted(maps.Keys(orders)) }

func (r *Row) coreSeconds() int64 {
	if r.Usage == nil {
		return 0
	}
	return r.Usage.CoreSeconds
}

// Page returns the rows of a query that a user sees.
func (l *Live) Page(see Visible, query Query) Page {
	limit := query.Limit
	if limit <= 0 || limit > MaxPageSize {
		limit = PageSize
	}
	m := newMatcher(&query.Filter, l.clock.Now())
	page := Page{Rows: []*Row{}}
	var rows []*Row
	l.mutex.RLock()
	l.groupsOf(see, &query.Filter, func(_ Group, g *group) {
		for _, e := range g.entries {
			switch {
			case !m.matches(e):
			case !query.AsOf.IsZero() && e.shown.Created.After(query.AsOf):
				page.Newer++
			default:
				rows = append(rows, e.shown)
			}
		}
	})
	page.Cursor = l.changes.cursor(l.clock.Now())
	l.mutex.RUnlock()
	page.Total = len(rows)
	compare := query.order(m.now)
	// Few rows are wanted of many: those after the page need no order.
	wanted := min(query.Offset+limit, len(rows))
	rows = smallest(rows, wanted, compare)
	page.Rows = append(page.Rows, rows[min(query.Offset, wanted):]...)
	return page
}

// order returns the order of the rows, in which no two are equal.
func (q *Query) order(now time.Time) func(a, b *Row) int {
	compare := orders[cmp.Or(q.Sort, defaultSort)]
	if compare == nil {
		compare = orders[defaultSort]
	}
	sign := -1
	if q.Ascending {
		sign = 1
	}
	return func(a, b *Row) int {
		return cmp.Or(sign*compare(now, a, b), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Resource, b.Resource))
	}
}

// smallest returns the first rows of an order, sorted. It changes the list.
func smallest(rows []*Row, count int, compare func(a, b *Row) int) []*Row {
	// With a heap of the wanted rows, the greatest on top, the rest is compared once each.
	if count > len(rows)/4 {
		slices.SortFunc(rows, compare)
		return rows[:count]
	}
	if count == 0 {
		return nil
	}
	heap := rows[:count]
	for i := count/2 - 1; i >= 0; i-- {
		sink(heap, i, compare)
	}
	for _, row := range rows[count:] {
		if compare(row, heap[0]) < 0 {
			heap[0] = row
			sink(heap, 0, compare)
		}
	}
	slices.SortFunc(heap, compare)
	return heap
}

// sink moves a row down in a heap with the greatest on top.
func sink(heap []*Row, at int, compare func(a, b *Row) int) {
	for {
		child := 2*at + 1
		if child >= len(heap) {
			return
		}
		if child+1 < len(heap) && compare(heap[child], heap[child+1]) < 0 {
			child++
		}
		if compare(heap[at], heap[child]) >= 0 {
			return
		}
		heap[at], heap[child] = heap[child], heap[at]
		at = child
	}
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
