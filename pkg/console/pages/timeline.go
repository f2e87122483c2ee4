package pages

import (
	"fmt"
	"time"

	"github.com/firesteel-dev/firesteel/pkg/console/live"
	"github.com/firesteel-dev/firesteel/pkg/overview"
)

// timeline is attempts and their transitions as bars. Widths are shares of the whole time, so that the picture has any width.
type timeline struct {
	Lanes       []lane
	Height      int
	Ticks       []tick
	From, Until string
}

// lane is an attempt.
type lane struct {
	Label string
	// Start is where it began. Y is the upper edge of its bar, TextY the base line of its label.
	Start    float64
	Anchor   string
	Y, TextY int
	Bars     []bar
}

// bar is how long a state lasted.
type bar struct {
	Start, Width float64
	Tone, Title  string
}

// tick is a mark of the time axis.
type tick struct {
	At   float64
	Text string
}

const (
	laneHeight, axisHeight = 40, 18
	// narrowest is the width of the shortest state, which would not be seen.
	narrowest = 0.003
	// maxLanes bounds the attempts that are drawn: the last ones.
	maxLanes = 20
	ticks    = 4
)

// tone returns the class of the colour of a state.
func tone(t *live.Transition) string { return statusOf(t.Outcome, t.State).Tone }

// timelineOf draws attempts. It returns false if nothing is known of them.
func timelineOf(attempts []live.Attempt, now time.Time) (timeline, bool) {
	attempts = attempts[max(len(attempts)-maxLanes, 0):]
	var from, until time.Time
	for i := range attempts {
		for _, t := range attempts[i].Transitions {
			end := t.At.Add(time.Duration(t.Lasted) * time.Millisecond)
			if from.IsZero() || t.At.Before(from) {
				from = t.At
			}
			if ended(t.Outcome) {
				end = t.At // what follows the end is no part of the picture
			}
			if end.After(until) {
				until = end
			}
		}
	}
	if from.IsZero() {
		return timeline{}, false
	}
	if until.After(now) {
		until = now
	}
	length := max(until.Sub(from), time.Millisecond)
	picture := timeline{Height: len(attempts)*laneHeight + axisHeight}
	share := func(d time.Duration) float64 { return min(max(float64(d)/float64(length), 0), 1) }
	for i := range attempts {
		a := &attempts[i]
		l := lane{Label: fmt.Sprintf("Attempt %d", a.Attempt), Y: i*laneHeight + axisHeight + 18, TextY: i*laneHeight + axisHeight + 13, Anchor: "start"}
		for at := range a.Transitions {
			t := &a.Transitions[at]
			b := bar{Start: share(t.At.Sub(from)), Width: share(time.Duration(t.Lasted) * time.Millisecond), Tone: tone(t)}
			b.Width = min(max(b.Width, narrowest), 1-b.Start)
			if b.Start > 1-narrowest {
				b.Start, b.Width = 1-narrowest, narrowest
			}
			b.Title = fmt.Sprintf("%s at %s for %s", t.State, t.At.UTC().Format("15:04:05.000"), precise(t.Lasted))
			l.Bars = append(l.Bars, b)
		}
		if len(l.Bars) > 0 {
			l.Start = l.Bars[0].Start
		}
		if l.Start > 1-1.0/ticks {
			l.Anchor, l.Start = "end", 1 // the label has no room to the right
		}
		picture.Lanes = append(picture.Lanes, l)
	}
	for i := range ticks + 1 {
		at := from.Add(length / ticks * time.Duration(i))
		picture.Ticks = append(picture.Ticks, tick{float64(i) / ticks, axisTime(at, length)})
	}
	return picture, true
}

func ended(outcome live.Outcome) bool {
	return outcome == overview.Succeeded || outcome == overview.Failed
}
