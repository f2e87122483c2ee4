package result

import (
	"fmt"
	"math"
	"strings"

	"github.com/firesteel-dev/firesteel/test/bench/report"
)

// row is a line of the table.
type row struct {
	name, unit string
	// worse describes what Firesteel does if its figure is the larger one.
	worse string
	of    func(Figures) float64
}

const (
	slower = "Firesteel is slower"
	more   = "Firesteel uses more"
)

func rows(applications int) []row {
	return []row{
		{"all drivers created", "s", slower, func(f Figures) float64 { return f.Drivers }},
		{
			fmt.Sprintf("%s of %s released", grouped(ThreeQuarters(applications)), grouped(applications)), "s", slower,
			func(f Figures) float64 { return f.ThreeQuarters },
		},
		{"all released", "s", slower, func(f Figures) float64 { return f.Released }},
		{"all deleted, in one call", "s", slower, func(f Figures) float64 { return f.Deleted }},
		{"one at a time, from creation to driver Pod, p50", "ms", slower, func(f Figures) float64 { return f.AtRestP50 }},
		{"the same, p99", "ms", slower, func(f Figures) float64 { return f.AtRestP99 }},
		{"CPU time of the operator for one application", "ms", more, func(f Figures) float64 { return f.OperatorCPU }},
		{"CPU time of all processes for one application", "ms", more, func(f Figures) float64 { return f.AllCPU }},
		{"memory of the operator, peak", "MiB", more, func(f Figures) float64 { return f.Memory }},
	}
}

// Table returns the medians of all rounds as Markdown. A ratio above 1 is in favour of Firesteel.
func (r *Result) Table() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s, %d cores of %s, %s of memory, load %s before. Firesteel %s; Apache operator %s with Java Operator SDK %s, Java %s; Kubernetes %s.\n",
		r.Date.UTC().Format("2006-01-02"), r.Machine.Cores, r.Machine.CPU, r.Machine.Memory, r.Machine.Load,
		r.Versions.Firesteel, r.Versions.ApacheOperator, r.Versions.JavaOperatorSDK, r.Versions.Java, r.Versions.Kubernetes)
	fmt.Fprintf(&text, "%s applications at once, then %s one at a time. %s.\n", grouped(r.Applications), grouped(r.AtRest), r.rounds())
	text.WriteString("\n| | Firesteel | Apache operator | ratio |\n|---|---:|---:|---:|\n")
	for _, row := range rows(r.Applications) {
		ours, theirs := r.median(row, Round.firesteel), r.median(row, Round.apache)
		fmt.Fprintf(&text, "| %s | %s %s | %s %s | %s |\n",
			row.name, report.Number(ours), row.unit, report.Number(theirs), row.unit, ratio(ours, theirs, row.worse))
	}
	return text.String()
}

func (r *Result) rounds() string {
	if len(r.Rounds) == 1 {
		return "One round"
	}
	firesteelFirst := 0
	for _, round := range r.Rounds {
		if round.First == Firesteel {
			firesteelFirst++
		}
	}
	return fmt.Sprintf("Medians of %d rounds, %d of them with Firesteel first", len(r.Rounds), firesteelFirst)
}

func (r Round) firesteel() Figures { return r.Firesteel }
func (r Round) apache() Figures    { return r.Apache }

func (r *Result) median(its row, operator func(Round) Figures) float64 {
	var samples []float64
	for _, round := range r.Rounds {
		samples = append(samples, its.of(operator(round)))
	}
	return report.Median(samples)
}

// ratio writes theirs divided by ours, and says what it means if it is below 1.
func ratio(ours, theirs float64, worse string) string {
	rounded := math.Round(theirs/ours*100) / 100
	text := fmt.Sprintf("%.2f", rounded)
	if rounded < 1 {
		return text + ": " + worse
	}
	return text
}

// grouped writes a number with commas between thousands.
func grouped(n int) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// The lines around the table in a page.
const (
	begin = "<!-- The comparison: go run ./test/bench/peers table writes it. -->\n"
	end   = "<!-- End of the comparison. -->\n"
)

// Insert returns a page with the table of the result between its two marker lines.
func (r *Result) Insert(page string) (string, error) {
	before, rest, ok := strings.Cut(page, begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		return "", fmt.Errorf("the page lacks the lines %q and %q, in this order", strings.TrimSpace(begin), strings.TrimSpace(end))
	}
	return before + begin + r.Table() + end + after, nil
}
