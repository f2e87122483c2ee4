package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Table writes the report for people, in Markdown. Each part has a table of what is held against something, and one of the
// rest, with a column for each case.
func (r *Report) Table(w io.Writer) error {
	var text strings.Builder
	fmt.Fprintf(&text, "%s, commit %s: %d cores of %s, %s, Linux %s, load %s\n", r.Time.UTC().Format("2006-01-02 15:04 MST"), r.Commit,
		r.Machine.Cores, r.Machine.CPU, r.Machine.Memory, r.Machine.Kernel, r.Machine.Load)
	fmt.Fprintf(&text, "%s applications\n", r.Settings["n"])
	if failed := r.Settings[Failed]; failed != "" {
		fmt.Fprintf(&text, "\n**Incomplete**: %s\n", failed)
	}
	for _, part := range distinct(r.Figures, func(f *Figure) string { return f.Part }) {
		var held, rest []*Figure
		for _, figure := range r.Figures {
			switch {
			case figure.Part != part:
			case figure.Goal != nil || len(figure.Yardstick) > 0:
				held = append(held, figure)
			default:
				rest = append(rest, figure)
			}
		}
		if len(held) > 0 {
			fmt.Fprintf(&text, "\n| %s | | | against | ratio | goal |\n|---|---|---:|---:|---:|---|\n", part)
		}
		for _, figure := range held {
			fmt.Fprintf(&text, "| %s | %s | %s %s | %s | %s | %s |\n", figure.Case, figure.Name,
				Number(figure.Value()), figure.Unit, figure.yardstick(), figure.ratio(), figure.goal())
		}
		columns(&text, part, rest)
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// columns writes figures with a column for each case.
func columns(text *strings.Builder, part string, figures []*Figure) {
	cases := distinct(figures, func(f *Figure) string { return f.Case })
	if len(cases) == 0 {
		return
	}
	row := func(f *Figure) string { return f.Name + " | " + f.Unit }
	fmt.Fprintf(text, "\n| %s | | %s |\n|---|---|%s\n", part, strings.Join(cases, " | "), strings.Repeat("---:|", len(cases)))
	for _, name := range distinct(figures, row) {
		cells := make([]string, len(cases))
		for _, figure := range figures {
			if row(figure) == name {
				cells[slices.Index(cases, figure.Case)] = Number(figure.Value())
			}
		}
		fmt.Fprintf(text, "| %s | %s |\n", name, strings.Join(cells, " | "))
	}
}

// distinct are the texts of figures, each once, in their order.
func distinct(figures []*Figure, text func(*Figure) string) []string {
	var texts []string
	for _, figure := range figures {
		if its := text(figure); !slices.Contains(texts, its) {
			texts = append(texts, its)
		}
	}
	return texts
}

func (f *Figure) yardstick() string {
	if len(f.Yardstick) == 0 {
		return ""
	}
	return Number(Median(f.Yardstick))
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
	result := "met"
	if f.Missed() {
		result = "**missed**"
	}
	return fmt.Sprintf("%s %s%s: %s", sign, Number(f.Goal.Limit), what, result)
}

// Number writes a number with three significant digits.
func Number(value float64) string {
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
