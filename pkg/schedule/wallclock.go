package schedule

import (
	"time"

	"github.com/robfig/cron/v3"
)

// wallClock finds the instants at which the clocks of a zone show a time of a cron expression, including changes of
// the zone's offset:
//
// - A time that the clocks skip is due at the instant of the change, so that no day is without its run.
// - A time that the clocks show twice is due only the first time.
// - An expression for every hour follows elapsed hours and not shown hours, if the change is by whole hours.
//
// Shown times are computed as if they were UTC, where no time is skipped or shown twice.
type wallClock struct {
	fields   *cron.SpecSchedule
	location *time.Location
}

// offset is an offset of a zone, with its begin and end; zero if it has none.
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
		// Times shown before the clocks went back do not count again.
		if before := w.offsetAt(now.begin.Add(-time.Nanosecond)); !w.followsHours(before, now) {
			shown = later(shown, secondBefore(before.shown(now.begin)))
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
			shown = secondBefore(following.shown(change))
		} else {
			if shown.Before(following.shown(change)) {
				return change.UTC() // the clocks skip the time
			}
			shown = secondBefore(now.shown(change))
		}
		now = following
	}
}

// secondBefore returns the time one second earlier. Instants are whole seconds, so the given one is the first that can follow it.
func secondBefore(shown time.Time) time.Time { return shown.Add(-time.Second) }

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

const everyHour = 1<<24 - 1

// followsHours reports whether the expression ignores the change from one offset to another.
func (w wallClock) followsHours(before, after offset) bool {
	return w.fields.Hour&everyHour == everyHour && (after.seconds-before.seconds)%3600 == 0
}
