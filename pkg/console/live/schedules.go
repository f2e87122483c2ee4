package live

import (
	"cmp"
	"slices"
	"time"

	"github.com/firesteel-dev/firesteel/pkg/overview"
	"github.com/firesteel-dev/firesteel/pkg/schedule/variant"
)

const (
	// nextRuns is how many coming runs a schedule has, and maxRuns bounds its past ones.
	nextRuns, maxRuns = 20, 500
	// maxCalendar bounds the runs of a calendar, runsEach those of a schedule, and calendarFor the time that it covers.
	maxCalendar, runsEach, calendarFor = 2000, 200, 62 * 24 * time.Hour
)

// Schedule returns a schedule with the runs that a user sees, and whether there is one.
func (l *Live) Schedule(see Visible, ref Ref) (*ScheduleDetails, bool) {
	found, ok := l.look(ref, overview.Schedule, allPods(false))
	if !ok {
		return nil, false
	}
	d := &ScheduleDetails{Row: found.row, Conditions: []Condition{}, Runs: []Run{}, Next: []time.Time{}, Cursor: found.cursor}
	l.mutex.RLock()
	if e := l.find(ref); e != nil {
		d.Runs = l.runsOf(see, e)
		d.Next = coming(e, found.now, found.now.Add(calendarFor), nextRuns)
	}
	l.mutex.RUnlock()
	if found.read == nil {
		return d, true
	}
	s := found.read.Typed.(variant.Schedule)
	d.Conditions = found.conditions()
	d.Concurrency = string(variant.KindOf(s).PolicyOf(s, found.now).Concurrency)
	return d, true
}

// runsOf returns the runs of a schedule that a user sees, the newest first. The caller holds the mutex.
func (l *Live) runsOf(see Visible, e *entry) []Run {
	runs := []Run{}
	resource := runsResource(e.row.Resource)
	g := l.groups[Group{e.row.Namespace, resource}]
	if g == nil || !see.Sees(e.row.Namespace, resource) {
		return runs
	}
	for _, run := range g.entries {
		if run.shown.Schedule == e.row.Name {
			runs = append(runs, runOf(e.row.Ref, run.shown))
		}
	}
	slices.SortFunc(runs, func(a, b Run) int { return cmp.Or(b.Due.Compare(a.Due), cmp.Compare(b.Row.Name, a.Row.Name)) })
	return runs[:min(len(runs), maxRuns)]
}

// runOf describes a run. Without the time that it is for, it counts as in time.
func runOf(of Ref, row *Row) Run {
	run := Run{Schedule: of, Due: row.Due, Row: row}
	if row.Due.IsZero() {
		run.Due = row.Created
	}
	run.Delay = max(row.Created.Sub(run.Due), 0).Milliseconds()
	return run
}

// runsResource returns the resource of the runs of a kind of schedules.
func runsResource(resource string) string {
	for _, kind := range variant.All {
		if kind.GroupResource().String() == resource {
			return kind.RunsResource().GroupResource().String()
		}
	}
	return ""
}

// coming returns the next runs of a schedule after a time.
func coming(e *entry, after, until time.Time, most int) []time.Time {
	next := []time.Time{}
	if e.clock == nil || e.row.Suspended {
		return next
	}
	for at := e.clock.Next(after); !at.IsZero() && at.Before(until) && len(next) < most; at = e.clock.Next(at) {
		next = append(next, at)
	}
	return next
}

// Calendar returns the runs, past and coming, of all schedules that a user sees, in the order of their times. It covers 62 days at most.
func (l *Live) Calendar(see Visible, from, until time.Time) []Run {
	if most := from.Add(calendarFor); until.After(most) {
		until = most
	}
	now := l.clock.Now()
	runs := []Run{}
	var clocks []*entry
	l.mutex.RLock()
	l.groupsOf(see, &Filter{}, func(key Group, g *group) {
		for _, e := range g.entries {
			switch {
			case e.row.Noun == overview.Schedule:
				clocks = append(clocks, e)
			case e.shown.Schedule != "":
				if run := runOf(Ref{key.Namespace, scheduleResource(key.Resource), e.shown.Schedule}, e.shown); !run.Due.Before(from) && run.Due.Before(until) {
					runs = append(runs, run)
				}
			}
		}
	})
	for _, e := range clocks {
		after := from.Add(-time.Second)
		if now.After(after) {
			after = now
		}
		for _, at := range coming(e, after, until, runsEach) {
			runs = append(runs, Run{Schedule: e.row.Ref, Due: at})
		}
	}
	l.mutex.RUnlock()
	slices.SortFunc(runs, func(a, b Run) int {
		return cmp.Or(a.Due.Compare(b.Due), cmp.Compare(a.Schedule.Namespace, b.Schedule.Namespace), cmp.Compare(a.Schedule.Name, b.Schedule.Name))
	})
	return runs[:min(len(runs), maxCalendar)]
}

// scheduleResource returns the resource of the schedules whose runs are of a resource.
func scheduleResource(runs string) string {
	for _, kind := range variant.All {
		if kind.RunsResource().GroupResource().String() == runs {
			return kind.GroupResource().String()
		}
	}
	return ""
}
