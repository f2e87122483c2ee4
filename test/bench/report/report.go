// Package report is what a run of the benchmarks yields: figures, beside what the API server alone can do and beside the
// goals, as a table for people, as JSON to keep, and as Go's benchmark format to compare with.
package report

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"time"
)

// Report is one run.
type Report struct {
	Time time.Time `json:"time"`
	// Commit is that of the source that was measured.
	Commit  string  `json:"commit"`
	Machine Machine `json:"machine"`
	// Settings are those that the run was made with, by name.
	Settings map[string]string `json:"settings"`
	Figures  []*Figure         `json:"figures"`
}

// Failed is the setting that says why a run did not come to its end.
const Failed = "failed"

// Machine is where a run took place.
type Machine struct {
	CPU    string `json:"cpu"`
	Cores  int    `json:"cores"`
	Memory string `json:"memory"`
	Kernel string `json:"kernel"`
	// Load is the load average of the minute before the run.
	Load string `json:"load"`
}

// Figure is something that was measured.
type Figure struct {
	// Part is the part of the benchmarks that measured it, Case what it was measured of, and Name what it is.
	Part string `json:"part"`
	Case string `json:"case"`
	Name string `json:"name"`
	// Unit is that of the samples, which are never empty.
	Unit    string    `json:"unit"`
	Samples []float64 `json:"samples"`
	// Yardstick are samples of the same, of what it is to be held against: most often the API server alone.
	Yardstick []float64 `json:"yardstick,omitempty"`
	// Higher means that more is better.
	Higher bool  `json:"higher,omitempty"`
	Goal   *Goal `json:"goal,omitempty"`
}

// Goal is what a figure should be. Nothing fails if it is not.
type Goal struct {
	Limit float64 `json:"limit"`
	// OfRatio means that the limit is one of the ratio to the yardstick.
	OfRatio bool `json:"ofRatio,omitempty"`
}

// Value is the median of the samples.
func (f *Figure) Value() float64 { return Median(f.Samples) }

// Ratio is the value by the yardstick's; 0 where there is none.
func (f *Figure) Ratio() float64 {
	if Median(f.Yardstick) == 0 {
		return 0
	}
	return f.Value() / Median(f.Yardstick)
}

// Below sets the goal of at most that much.
func (f *Figure) Below(limit float64) *Figure {
	f.Goal = &Goal{Limit: limit}
	return f
}

// Against sets the yardstick.
func (f *Figure) Against(yardstick ...float64) *Figure {
	f.Yardstick = append(f.Yardstick, yardstick...)
	return f
}

// RatioBelow sets the goal of at most that ratio to the yardstick.
func (f *Figure) RatioBelow(limit float64) *Figure {
	f.Goal = &Goal{Limit: limit, OfRatio: true}
	return f
}

// RatioAbove sets the goal of at least that ratio to the yardstick. More is better.
func (f *Figure) RatioAbove(limit float64) *Figure {
	f.Goal, f.Higher = &Goal{Limit: limit, OfRatio: true}, true
	return f
}

// Missed reports whether the goal is missed. A ratio to nothing meets none.
func (f *Figure) Missed() bool {
	if f.Goal == nil {
		return false
	}
	got := f.Value()
	if f.Goal.OfRatio {
		if got = f.Ratio(); got == 0 {
			return true
		}
	}
	if f.Higher {
		return got < f.Goal.Limit
	}
	return got > f.Goal.Limit
}

// Add adds samples of a figure, which is a new one or another run's.
func (r *Report) Add(part, of, name, unit string, samples ...float64) *Figure {
	for _, figure := range r.Figures {
		if figure.Part == part && figure.Case == of && figure.Name == name {
			figure.Samples = append(figure.Samples, samples...)
			return figure
		}
	}
	figure := &Figure{Part: part, Case: of, Name: name, Unit: unit, Samples: samples}
	r.Figures = append(r.Figures, figure)
	return figure
}

// AddTimes adds the quantiles of times, in milliseconds: p50 has all of them as samples. It returns the figures of p50, p90
// and p99.
func (r *Report) AddTimes(part, of, name string, times []time.Duration) (p50, p90, p99 *Figure) {
	samples := Milliseconds(times)
	p50 = r.Add(part, of, name+", p50", "ms", samples...)
	p90 = r.Add(part, of, name+", p90", "ms", Quantile(samples, 0.9))
	p99 = r.Add(part, of, name+", p99", "ms", Quantile(samples, 0.99))
	return p50, p90, p99
}

// Milliseconds are times as numbers.
func Milliseconds(times []time.Duration) []float64 {
	samples := make([]float64, 0, len(times))
	for _, t := range times {
		samples = append(samples, float64(t.Microseconds())/1000)
	}
	return samples
}

// Median is the middle of the samples, or between the middle two; 0 where there is none.
func Median(samples []float64) float64 {
	if len(samples) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(samples))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

// Quantile is the sample that the share q of all does not exceed; 0 where there is none.
func Quantile(samples []float64, q float64) float64 {
	if len(samples) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(samples))
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}

// Write writes the report as JSON to a file.
func (r *Report) Write(file string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("encode report: %w", err)
	}
	return os.WriteFile(file, append(text, '\n'), 0o644)
}

// Read reads a report that was written.
func Read(file string) (*Report, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var r Report
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, fmt.Errorf("report %s: %w: is it whole, and one of make bench?", file, err)
	}
	empty := func(f *Figure) bool { return f == nil || len(f.Samples) == 0 }
	if len(r.Figures) == 0 || slices.ContainsFunc(r.Figures, empty) {
		return nil, fmt.Errorf("report %s: figures are missing, or one has no samples: is it one of make bench?", file)
	}
	return &r, nil
}
