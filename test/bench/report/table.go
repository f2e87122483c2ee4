package report

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// Table writes the report for people, in Markdown: a table for each part.
func (r *Report) Table(w io.Writer) error {
	var text strings.Builder
	fmt.Fprintf(&text, "%s, commit %s: %d cores of %s, %s, Linux %s, load %s\n", r.Time.UTC().Format("2006-01-02 15:04 MST"), r.Commit,
		r.Machine.Cores, r.Machine.CPU, r.Machine.Memory, r.Machine.Kernel, r.Machine.Load)
	part := ""
	for _, figure := range r.Figures {
		if figure.Part != part {
			part = figure.Part
			fmt.Fprintf(&text, "\n| %s | | | against | ratio | goal |\n|---|---|---:|---:|---:|---|\n", part)
		}
		fmt.Fprintf(&text, "| %s | %s | %s %s | %s | %s | %s |\n", figure.Case, figure.Name,
			number(figure.Value()), figure.Unit, figure.yardstick(), figure.ratio(), figure.goal())
	}
	_, err := io.WriteString(w, text.String())
	return err
}

func (f *Figure) yardstick() string {
	if len(f.Yardstick) == 0 {
		return ""
	}
	return number(Quantile(f.Yardstick, 0.5))
}

func (f *Figure) ratio() string {
	if len(f.Yardstick) == 0 {
		return ""
	}
	return strconv.FormatFloat(f.Ratio(), 'f', 2, 64)
}

func (f *Figure) goal() string {
	if f.Goal == nil {
		return ""
	}
	sign := "≤"
	if f.Higher {
		sign = "≥"
	}
	what := " " + f.Unit
	if f.Goal.OfRatio {
		what = ""
	}
	verdict := "met"
	if f.Missed() {
		verdict = "**missed**"
	}
	return fmt.Sprintf("%s %s%s: %s", sign, number(f.Goal.Limit), what, verdict)
}

// number has three digits that count.
func number(value float64) string {
	if value == 0 {
		return "0"
	}
	decimals := 2 - int(math.Floor(math.Log10(math.Abs(value))))
	text := strconv.FormatFloat(value, 'f', min(max(decimals, 0), 6), 64)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}
