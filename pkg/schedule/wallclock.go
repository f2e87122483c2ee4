package schedule

import (
	"time"

	"github.com/robfig/cron/v3"
)

// wallClock finds the instants at which the clocks of a zone show what a cron expression asks for, over the changes of
// the zone's offset too:
//
//   - A time that the clocks skip is due at the instant of the change, so that no day is without its run.
//   - A time that the clocks show twice is due the first time only.
//   - An expression for every hour follows the hours that pass and not those that are shown, where the change is by
//     whole hours: there are as many hours between two runs as ever.
//
// Times of the clocks are reckoned as if they were UTC's, where nothing is skipped and nothing is shown twice.
type wallClock struct {
	fields   *cron.SpecSchedule
	location *time.Location
}

// offset is one of a zone's, and when it begins and ends to hold; zero where it always did or will.
type offset struct {
	seconds    int
	begin, end time.Time
}

func (w wallClock) offsetAt(instant time.Time) offset {
	local := instant.In(w.location)
	_, seconds := local.Zone()
	begin, end := local.ZoneBounds()
	return offset{seconds: seconds, begin: begin, end: end}
}

func (o offset) shown(instant time.Time) time.Time {
	return instant.UTC().Add(time.Duration(o.seconds) * time.Second)
}

func (o offset) instant(shown time.Time) time.Time {
	return shown.Add(-time.Duration(o.seconds) * time.Second)
}

func (w wallClock) next(after time.Time) time.Time {
	now := w.offsetAt(after)
	shown := now.shown(after)
	if !now.begin.IsZero() {
		// What was shown before the clocks went back is over.
		if before := w.offsetAt(now.begin.Add(-time.Nanosecond)); !w.followsHours(before, now) {
			shown = later(shown, just(before.shown(now.begin)))
		}
	}
	for {
		shown = w.fields.Next(shown)
		if shown.IsZero() {
			return time.Time{}
		}
		due := now.instant(shown)
		if now.end.IsZero() || due.Before(now.end) {
			return due
		}
		change := now.end
		following := w.offsetAt(change)
		if w.followsHours(now, following) {
			shown = just(following.shown(change))
		} else {
			if shown.Before(following.shown(change)) {
				return change.UTC() // the clocks skip it
			}
			shown = just(now.shown(change))
		}
		now = following
	}
}

// just is a time that what is due at another is after.
func just(shown time.Time) time.Time { return shown.Add(-time.Second) }

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

const everyHour = 1<<24 - 1

// followsHours says that the change from one offset to another is nothing to the expression.
func (w wallClock) followsHours(before, after offset) bool {
	return w.fields.Hour&everyHour == everyHour && (after.seconds-before.seconds)%3600 == 0
}
