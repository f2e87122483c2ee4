package pages

import (
	"fmt"
	"net/http"
	"time"

	"github.com/firesteel-dev/firesteel/pkg/console/live"
	"github.com/firesteel-dev/firesteel/pkg/overview"
)

// maxSchedules bounds the schedules of the page: the list has all.
const maxSchedules = 500

// The days of the calendar before today, and after it.
const daysBefore, daysAfter = 6, 7

type scheduleRow struct {
	rowView
	Expression, Zone string
	Next, Last       instant
	Active, Missed   string
}

// day is a day of the calendar.
type day struct {
	Name, Date string
	Today      bool
	Runs       []runView
	More       int
}

// runView is a run in the calendar or in a table.
type runView struct {
	At       instant
	Clock    string
	Name     string
	Href     string
	Status   status
	Delay    string
	Duration string
}

type schedulesView struct {
	Rows []scheduleRow
	Days []day
	More string
}

func (s *Server) schedules(v *view) error {
	p := s.newPage(v.Request, "Schedules", "schedules")
	s.viewed(p, v.viewer)
	query := live.Query{Filter: live.Filter{Noun: overview.Schedule}, Sort: sortName, Ascending: true, Limit: maxSchedules}
	found := s.options.Source.Page(v.see, query)
	p.follow(found.Cursor, nil)
	body := schedulesView{Days: p.calendar(s.calendarOf(v, p))}
	for _, r := range found.Rows {
		body.Rows = append(body.Rows, p.schedule(r))
	}
	if found.Total > len(found.Rows) {
		body.More = p.listed(map[string][]string{live.ParamKind: {string(overview.Schedule)}})
	}
	p.Announce = plural(found.Total, "schedule", "schedules")
	p.Body = body
	return render(v.w, v.Request, http.StatusOK, "schedules", p)
}

func (s *Server) calendarOf(v *view, p *page) []live.Run {
	today := p.clock.now.UTC().Truncate(24 * time.Hour)
	return s.options.Source.Calendar(v.see, today.AddDate(0, 0, -daysBefore), today.AddDate(0, 0, daysAfter+1))
}

func (p *page) schedule(r *live.Row) scheduleRow {
	view := scheduleRow{rowView: p.row(r)}
	if r.Runs == nil {
		return view
	}
	view.Expression, view.Zone = r.Runs.Expression, r.Runs.TimeZone
	view.Next, view.Last = p.clock.ago(r.Runs.Next), p.clock.ago(r.Runs.Last)
	view.Active, view.Missed = number(int64(r.Runs.Active)), number(r.Runs.Missed)
	return view
}

// maxRunsOfDay bounds the runs of a day in the calendar.
const maxRunsOfDay = 12

// calendar returns the days around today.
func (p *page) calendar(runs []live.Run) []day {
	today := p.clock.now.UTC().Truncate(24 * time.Hour)
	var days []day
	for i := -daysBefore; i <= daysAfter; i++ {
		date := today.AddDate(0, 0, i)
		d := day{Name: date.Format("Mon"), Date: date.Format("2 Jan"), Today: i == 0}
		for at := range runs {
			if !runs[at].Due.UTC().Truncate(24 * time.Hour).Equal(date) {
				continue
			}
			if len(d.Runs) == maxRunsOfDay {
				d.More++
				continue
			}
			d.Runs = append(d.Runs, p.run(&runs[at]))
		}
		days = append(days, d)
	}
	return days
}

func (p *page) run(r *live.Run) runView {
	view := runView{
		At: p.clock.ago(r.Due), Clock: r.Due.UTC().Format("15:04"), Name: r.Schedule.Name, Delay: "–", Duration: "–",
		Href: p.Prefix + hrefOf(overview.Schedule, r.Schedule), Status: status{Icon: "waiting", Tone: "coming", Word: "Coming"},
	}
	if r.Row != nil {
		view.Status, view.Name, view.Href = rowStatus(r.Row), r.Row.Name, p.Prefix+hrefOf(r.Row.Noun, r.Row.Ref)
		view.Delay, view.Duration = precise(r.Delay), short(r.Row.Duration(p.clock.now))
	}
	return view
}

type scheduleView struct {
	Row         scheduleRow
	Concurrency string
	Conditions  []conditionView
	Runs        []runView
	Next        []instant
	Actions     *actionsView
}

func (s *Server) schedule(v *view) error {
	ref := v.refOf()
	if _, err := v.mayGet(ref); err != nil {
		return err
	}
	found, ok := s.options.Source.Schedule(v.see, ref)
	if !ok {
		return errNotFound
	}
	p := s.newPage(v.Request, ref.Name, "schedules")
	s.viewed(p, v.viewer)
	p.follow(found.Cursor, nil) // its runs are objects of their own
	body := scheduleView{Row: p.schedule(found.Row), Concurrency: found.Concurrency, Conditions: p.conditions(found.Conditions)}
	var err error
	if body.Actions, err = p.actions(v, found.Row); err != nil {
		return err
	}
	for i := range found.Runs {
		body.Runs = append(body.Runs, p.run(&found.Runs[i]))
	}
	for _, next := range found.Next {
		body.Next = append(body.Next, p.clock.ago(next))
	}
	p.Announce = fmt.Sprintf("%s: %s", ref.Name, body.Row.Status.State)
	p.Body = body
	return render(v.w, v.Request, http.StatusOK, "schedule", p)
}
