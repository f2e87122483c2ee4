package pages

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/firesteel-dev/firesteel/pkg/console/live"
	"github.com/firesteel-dev/firesteel/pkg/overview"
)

// instant is a time as a page shows it: how long ago, or in how long; the exact time is its tooltip.
type instant struct {
	// Machine is the time for programs, with the milliseconds; empty if the time is not known.
	Machine string
	// Exact is the time for people, in UTC. Text is relative to the time of the page.
	Exact, Text string
	// Past reports whether it is over.
	Past bool
}

// moment formats times relative to the time of a page.
type moment struct{ now time.Time }

const (
	exactFormat   = "2006-01-02 15:04:05 MST"
	machineFormat = "2006-01-02T15:04:05.000Z07:00"
)

// ago returns how long ago a time is. A time in the future has "in" before it.
func (c moment) ago(t time.Time) instant {
	if t.IsZero() {
		return instant{Text: "–"}
	}
	i := instant{Machine: t.UTC().Format(machineFormat), Exact: t.UTC().Format(exactFormat)}
	if past := c.now.Sub(t); past >= 0 {
		i.Text, i.Past = duration.HumanDuration(past), true
	} else {
		i.Text = "in " + duration.HumanDuration(-past)
	}
	return i
}

// exact returns a time with its milliseconds.
func (c moment) exact(t time.Time) instant {
	i := c.ago(t)
	if i.Machine != "" {
		i.Text = t.UTC().Format("15:04:05.000")
		if t.UTC().Format(time.DateOnly) != c.now.UTC().Format(time.DateOnly) {
			i.Text = t.UTC().Format("Jan 2 15:04:05.000")
		}
	}
	return i
}

// short returns a duration for a table; – for none.
func short(d time.Duration) string {
	if d <= 0 {
		return "–"
	}
	return duration.HumanDuration(d)
}

// precise returns a duration to the millisecond.
func precise(milliseconds int64) string {
	d := time.Duration(max(milliseconds, 0)) * time.Millisecond
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.3f s", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%d m %06.3f s", int(d.Minutes()), (d % time.Minute).Seconds())
	default:
		return fmt.Sprintf("%d h %02d m %06.3f s", int(d.Hours()), int(d.Minutes())%60, (d % time.Minute).Seconds())
	}
}

// number returns a number with a thin space between thousands.
func number(n int64) string {
	digits := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, digits = "-", digits[1:]
	}
	return sign + grouped(digits)
}

// grouped puts a thin space between thousands.
func grouped(digits string) string {
	var parts []string
	for len(digits) > 3 {
		parts = append([]string{digits[len(digits)-3:]}, parts...)
		digits = digits[:len(digits)-3]
	}
	return strings.Join(append([]string{digits}, parts...), "\u202f")
}

// money returns an amount that is not negative, with its currency.
func money(amount float64, currency string) string {
	const least = 0.01
	if amount > 0 && amount < least {
		return "below 0.01\u00a0" + currency
	}
	whole, part, _ := strings.Cut(strconv.FormatFloat(amount, 'f', 2, 64), ".")
	return grouped(whole) + "." + part + "\u00a0" + currency
}

// decimal returns a number with at most two digits after the point.
func decimal(f float64) string {
	text := strconv.FormatFloat(f, 'f', 2, 64)
	return strings.TrimSuffix(strings.TrimSuffix(text, "0"), ".0")
}

func cores(milliCPU int64) string { return decimal(float64(milliCPU) / 1000) }

func gibibytes(mebibytes int64) string { return decimal(float64(mebibytes) / 1024) }

// hours returns seconds as hours, and gibibyteHours MiB-seconds as GiB-hours.
func hours(seconds int64) string { return decimal(float64(seconds) / 3600) }

func gibibyteHours(mebibyteSeconds int64) string {
	return decimal(float64(mebibyteSeconds) / 3600 / 1024)
}

// resources returns requests in words; empty for none.
func resources(r live.Resources) string {
	var words []string
	if r.MilliCPU > 0 {
		words = append(words, cores(r.MilliCPU)+" cores")
	}
	if r.Mebibytes > 0 {
		words = append(words, gibibytes(r.Mebibytes)+" GiB")
	}
	if r.GPUs > 0 {
		words = append(words, strconv.FormatInt(r.GPUs, 10)+" GPUs")
	}
	return strings.Join(words, ", ")
}

// plural returns a number and a noun.
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return number(int64(n)) + " " + many
}

// status is a state as a page shows it: never by its colour alone.
type status struct {
	// Icon is a symbol of icons.svg. Tone is the class of the colour.
	Icon, Tone string
	// Word is the outcome for people, State the state of the API.
	Word, State string
}

var outcomes = map[live.Outcome]status{
	overview.Running:   {Icon: "running", Tone: "running", Word: "Running"},
	overview.Waiting:   {Icon: "waiting", Tone: "waiting", Word: "Waiting"},
	overview.Succeeded: {Icon: "succeeded", Tone: "succeeded", Word: "Succeeded"},
	overview.Failed:    {Icon: "failed", Tone: "failed", Word: "Failed"},
}

func statusOf(outcome live.Outcome, state string) status {
	s, ok := outcomes[outcome]
	if !ok {
		s = status{Icon: "deleted", Tone: "waiting", Word: string(outcome)}
	}
	s.State = state
	return s
}

// rowStatus returns the status of a row, with what the state does not say.
func rowStatus(r *live.Row) status {
	s := statusOf(r.Outcome, r.State)
	switch {
	case r.Deleting:
		s.Icon, s.Word = "deleted", "Being deleted"
	case r.Suspended && !ended(r.Outcome):
		s.Icon, s.Word, s.Tone = "suspended", "Suspended", "waiting"
	case r.Held != nil:
		s.Word = "Held for quota"
	}
	return s
}

// apiOf returns the API group of a resource.
func apiOf(resource string) string {
	_, group, _ := strings.Cut(resource, ".")
	return group
}

// attemptOf returns the number of an attempt for people; – if there is none.
func attemptOf(attempt int64) string {
	if attempt < 0 {
		return "–"
	}
	return strconv.FormatInt(attempt, 10)
}

// executorsOf returns how many executors run, of those that are asked for.
func executorsOf(e live.Executors) string {
	if e == (live.Executors{}) {
		return "–"
	}
	text := strconv.Itoa(e.Running)
	if e.Asked > 0 {
		text += "/" + number(e.Asked)
	}
	return text
}
