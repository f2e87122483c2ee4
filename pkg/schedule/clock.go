package schedule

import (
	"fmt"
	"strings"
	"time"
	_ "time/tzdata" // the same zones wherever Firesteel runs

	"github.com/robfig/cron/v3"

	"github.com/firesteel-dev/firesteel/pkg/finding"
)

// Clock computes the instants of a schedule. They are whole seconds, in UTC.
type Clock struct {
	// text is the schedule and its zone.
	text string
	// zone is the zone of the schedule.
	zone *time.Location
	// next returns the first instant after another; zero if there is none.
	next func(after time.Time) time.Time
	// between counts the instants between two, both exclusive; nil if they must be enumerated.
	between func(after, before time.Time) int64
	// period is the period of @every; zero for a cron expression.
	period time.Duration
}

// String returns the schedule with its zone, as it is in a record.
func (c *Clock) String() string { return c.text }

// Zone returns the zone in which users read the instants.
func (c *Clock) Zone() *time.Location { return c.zone }

// Period returns the time between instants, if it is always the same: @every.
func (c *Clock) Period() (time.Duration, bool) { return c.period, c.period > 0 }

// Next returns the first instant after another; zero if the schedule never fires again.
func (c *Clock) Next(after time.Time) time.Time { return c.next(after) }

// Fires reports whether an instant is one of the schedule.
func (c *Clock) Fires(instant time.Time) bool {
	return c.Next(instant.Add(-time.Second)).Equal(instant)
}

// countLimit bounds the number of instants that are counted as missed at once.
const countLimit = 100_000

// Between counts the instants between two, both exclusive. It stops at 100,000.
func (c *Clock) Between(after, before time.Time) int64 {
	if c.between != nil {
		return min(c.between(after, before), countLimit)
	}
	var count int64
	for at := c.Next(after); !at.IsZero() && at.Before(before) && count < countLimit; at = c.Next(at) {
		count++
	}
	return count
}

// Latest returns the last instant after one time and not after another; zero if there is none.
func (c *Clock) Latest(after, upTo time.Time) time.Time {
	// The range doubles each time, so that few instants are enumerated, however many there are.
	for back := time.Minute; ; back *= 2 {
		from := upTo.Add(-back)
		if from.Before(after) || back > lookBack {
			from = after
		}
		if last := c.lastOf(from, upTo); !last.IsZero() || from.Equal(after) {
			return last
		}
	}
}

// lookBack bounds the doubling.
const lookBack = 20 * 366 * 24 * time.Hour

func (c *Clock) lastOf(after, upTo time.Time) (last time.Time) {
	for at := c.Next(after); !at.IsZero() && !at.After(upTo); at = c.Next(at) {
		last = at
	}
	return last
}

// The fields that refusals name.
const (
	fieldSchedule = "spec.schedule"
	fieldTimeZone = "spec.timeZone"
)

// The reasons for which a schedule is refused.
const (
	ReasonInvalidSchedule = "InvalidSchedule"
	ReasonInvalidTimeZone = "InvalidTimeZone"
	ReasonNeverFires      = "NeverFires"
	ReasonInvalidTemplate = "InvalidTemplate"
)

func refuse(reason, field, value, remedy string) *finding.Finding {
	return &finding.Finding{Severity: finding.Error, Reason: reason, Field: field, Value: fmt.Sprintf("%.64s", value), Remedy: remedy}
}

const wantSchedule = "write five fields, minute hour day-of-month month day-of-week, or @every and a duration such as 1h30m, " +
	"or @hourly, @daily, @weekly, @monthly or @yearly"

// maxText bounds a schedule and a time zone, in bytes: the record holds both. A list of all minutes, hours, days,
// months and weekdays has 500.
const maxText = 1024

// Parse reads a schedule. A zone in the schedule takes precedence over timeZone. Without either the zone is UTC; so
// is Local, as for an operator in a container. @every counts from since, and the schedule must fire after now.
func Parse(text, timeZone string, since, now time.Time) (*Clock, *finding.Finding) {
	for _, given := range []struct{ reason, field, text string }{
		{ReasonInvalidSchedule, fieldSchedule, text}, {ReasonInvalidTimeZone, fieldTimeZone, timeZone},
	} {
		if len(given.text) > maxText {
			return nil, refuse(given.reason, given.field, given.text, fmt.Sprintf("it has %d characters: write at most %d", len(given.text), maxText))
		}
	}
	field, zone, expression := splitZone(text, timeZone)
	location, err := locate(zone)
	if err != nil {
		return nil, refuse(ReasonInvalidTimeZone, field, zone,
			"no such time zone: write a name of the IANA database such as Europe/Berlin, or UTC")
	}
	clock, refusal := parse(text, expression, location, since)
	if refusal != nil {
		return nil, refusal
	}
	clock.text, clock.zone = expression+" "+location.String(), location
	if clock.Next(now).IsZero() {
		return nil, refuse(ReasonNeverFires, fieldSchedule, text, "it never fires: there is no such day; "+wantSchedule)
	}
	return clock, nil
}

// splitZone splits the zone off a schedule that begins with one.
func splitZone(text, timeZone string) (field, zone, expression string) {
	expression = strings.TrimSpace(text)
	for _, prefix := range []string{"CRON_TZ=", "TZ="} {
		if rest, found := strings.CutPrefix(expression, prefix); found {
			zone, expression, _ = strings.Cut(rest, " ")
			return fieldSchedule, zone, strings.TrimSpace(expression)
		}
	}
	return fieldTimeZone, timeZone, expression
}

func locate(zone string) (*time.Location, error) {
	if zone == "" || zone == "Local" {
		return time.UTC, nil
	}
	return time.LoadLocation(zone)
}

func parse(text, expression string, location *time.Location, since time.Time) (*Clock, *finding.Finding) {
	if rest, found := strings.CutPrefix(expression, "@every"); found {
		return every(text, strings.TrimSpace(rest), since)
	}
	if strings.Contains(expression, "TZ=") {
		return nil, refuse(ReasonInvalidSchedule, fieldSchedule, text, "it names two zones; "+wantSchedule)
	}
	parsed, err := cron.ParseStandard(expression)
	fields, ok := parsed.(*cron.SpecSchedule)
	if err != nil || !ok {
		return nil, refuse(ReasonInvalidSchedule, fieldSchedule, text, fmt.Sprintf("%s (%v)", wantSchedule, err))
	}
	fields.Location = time.UTC // shown times are computed in UTC
	return &Clock{next: wallClock{fields: fields, location: location}.next}, nil
}

// every returns the clock of @every: a whole number of seconds.
func every(text, duration string, since time.Time) (*Clock, *finding.Finding) {
	parsed, err := time.ParseDuration(duration)
	period := parsed.Truncate(time.Second)
	if err != nil || period <= 0 {
		return nil, refuse(ReasonInvalidSchedule, fieldSchedule, text, "write a duration of a second or more, such as @every 1h30m")
	}
	since = since.UTC().Truncate(time.Second)
	passed := func(at time.Time) int64 { return int64(max(at.Sub(since), 0) / period) }
	return &Clock{
		period: period,
		next: func(after time.Time) time.Time {
			return since.Add(time.Duration(passed(after)+1) * period)
		},
		between: func(after, before time.Time) int64 {
			return max(passed(before.Add(-time.Nanosecond))-passed(after), 0)
		},
	}, nil
}
