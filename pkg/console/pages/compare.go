package pages

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/firesteel-dev/firesteel/pkg/console/live"
	"github.com/firesteel-dev/firesteel/pkg/overview"
)

// compareView is two applications side by side.
type compareView struct {
	A, B string
	// Chosen reports whether both were found.
	Chosen bool
	Rows   [2]rowView
	Facts  []compareRow
	States []compareRow
}

// compareRow is a line with what two applications have. Differs reports whether it is not the same.
type compareRow struct {
	Name    string
	A, B    string
	Differs bool
	// Bars are the shares of the longer of both, of a line with durations.
	Bars [2]float64
}

// compare shows two applications, which are named as namespace/resource/name.
func (s *Server) compare(v *view) error {
	p := s.newPage(v.Request, "Compare", "applications")
	s.viewed(p, v.viewer)
	body := compareView{A: v.URL.Query().Get("a"), B: v.URL.Query().Get("b")}
	if body.A != "" && body.B != "" {
		var both [2]*live.Details
		for i, text := range []string{body.A, body.B} {
			found, err := s.named(v, text)
			if err != nil {
				return err
			}
			both[i] = found
			body.Rows[i] = p.row(found.Row)
		}
		body.Chosen = true
		body.Facts = p.compared(both[0], both[1])
		body.States = comparedStates(both[0], both[1])
	}
	p.Body = body
	return render(v.w, v.Request, http.StatusOK, "compare", p)
}

// named returns the application that a parameter names.
func (s *Server) named(v *view, text string) (*live.Details, error) {
	parts := strings.Split(text, "/")
	if len(parts) != 3 {
		return nil, &live.ParameterError{Parameter: "the application", Value: text, Remedy: "write NAMESPACE/RESOURCE/NAME, such as etl/sparkapplications.spark.apache.org/daily"}
	}
	ref := live.Ref{Namespace: parts[0], Resource: parts[1], Name: parts[2]}
	pods, err := v.mayGet(ref)
	if err != nil {
		return nil, err
	}
	found, ok := s.options.Source.Details(ref, pods)
	if !ok || found.Row.Noun != overview.Application {
		return nil, errNotFound
	}
	return found, nil
}

func (p *page) compared(a, b *live.Details) []compareRow {
	line := func(name string, of func(*live.Details) string) compareRow {
		row := compareRow{Name: name, A: of(a), B: of(b)}
		row.Differs = row.A != row.B
		return row
	}
	used := func(of func(*live.Usage) string) func(*live.Details) string {
		return func(d *live.Details) string {
			if d.Row.Usage == nil {
				return "–"
			}
			return of(d.Row.Usage)
		}
	}
	rows := []compareRow{
		line("State", func(d *live.Details) string { return d.Row.State }),
		line("Reason", func(d *live.Details) string { return d.Row.Sentence }),
		line("Last attempt", func(d *live.Details) string { return attemptOf(d.Row.Attempt) }),
		line("Created", func(d *live.Details) string { return p.clock.ago(d.Row.Created).Exact }),
		line("Ran", func(d *live.Details) string { return short(d.Row.Duration(p.clock.now)) }),
		line("Executors asked", func(d *live.Details) string { return number(d.Row.Executors.Asked) }),
		line("Executors at most", used(func(u *live.Usage) string { return number(u.PeakExecutors) })),
		line("Core-hours", used(func(u *live.Usage) string { return hours(u.CoreSeconds) })),
		line("GiB-hours", used(func(u *live.Usage) string { return gibibyteHours(u.MebibyteSeconds) })),
	}
	if gpuSeconds(a)+gpuSeconds(b) > 0 {
		rows = append(rows, line("GPU-hours", used(func(u *live.Usage) string { return hours(u.GPUSeconds) })))
	}
	if costOf(a.Row.Usage)+costOf(b.Row.Usage) != "" {
		rows = append(rows, line("Cost", used(costOf)))
	}
	return rows
}

func gpuSeconds(d *live.Details) float64 {
	if d.Row.Usage == nil {
		return 0
	}
	return float64(d.Row.Usage.GPUSeconds)
}

// comparedStates returns how long each state lasted in the last attempts, in the order in which they were passed.
func comparedStates(a, b *live.Details) []compareRow {
	sums := [2]map[string]int64{{}, {}}
	var order []string
	for i, details := range []*live.Details{a, b} {
		if len(details.Attempts) == 0 {
			continue
		}
		for _, t := range details.Attempts[len(details.Attempts)-1].Transitions {
			if ended(t.Outcome) {
				continue // it lasts for ever
			}
			if !slices.Contains(order, t.State) {
				order = append(order, t.State)
			}
			sums[i][t.State] += t.Lasted
		}
	}
	var longest int64 = 1
	for _, state := range order {
		longest = max(longest, sums[0][state], sums[1][state])
	}
	var rows []compareRow
	for _, state := range order {
		row := compareRow{Name: state, A: lasted(sums[0], state), B: lasted(sums[1], state)}
		for i := range sums {
			row.Bars[i] = float64(sums[i][state]) / float64(longest)
		}
		const same = 1.1 // a tenth is chance
		low, high := min(sums[0][state], sums[1][state]), max(sums[0][state], sums[1][state])
		row.Differs = float64(high) > float64(low)*same && time.Duration(high)*time.Millisecond > time.Second
		rows = append(rows, row)
	}
	return rows
}

func lasted(sums map[string]int64, state string) string {
	sum, ok := sums[state]
	if !ok {
		return "not passed"
	}
	return precise(sum)
}
