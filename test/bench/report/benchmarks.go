package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// Benchmarks writes the report in Go's benchmark format, which benchstat compares: a line for each figure. The samples of a
// report are no lines of their own: they are of one process and one hour, so that chance would seem smaller than it is. Where
// there is a yardstick, the ratio to it is another unit of the same benchmark, for the machine matters less to it.
func (r *Report) Benchmarks(w io.Writer) error {
	var text strings.Builder
	fmt.Fprintf(&text, "cpu: %s\napplications: %s\n", r.Machine.CPU, r.Settings["n"])
	better := map[string]string{}
	for _, figure := range r.Figures {
		unit := word(figure.Unit)
		better[unit] = figure.better()
		if len(figure.Yardstick) > 0 {
			better["ratio:"+unit] = figure.better()
		}
	}
	for _, unit := range slices.Sorted(maps.Keys(better)) {
		fmt.Fprintf(&text, "Unit %s better=%s\n", unit, better[unit])
	}
	for _, figure := range r.Figures {
		fmt.Fprintf(&text, "BenchmarkFiresteel/%s/%s/%s 1 %g %s", part(figure.Part), part(figure.Case), part(figure.Name),
			figure.Value(), word(figure.Unit))
		if ratio := figure.Ratio(); ratio != 0 {
			fmt.Fprintf(&text, " %g ratio:%s", ratio, word(figure.Unit))
		}
		text.WriteString("\n")
	}
	_, err := io.WriteString(w, text.String())
	return err
}

func (f *Figure) better() string {
	if f.Higher {
		return "higher"
	}
	return "lower"
}

// word is text without spaces, which end words in that format.
func word(text string) string { return strings.NewReplacer(", ", ",", " ", "-").Replace(text) }

// part is a word that may be part of a benchmark's name.
func part(text string) string {
	text = strings.ReplaceAll(word(text), "/", "-per-")
	if text == "" {
		return "all"
	}
	return text
}
