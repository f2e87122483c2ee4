package see

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// columns prints rows in columns. Columns become wider with what they hold and never narrower, so that pages of a long list are aligned.
type columns struct {
	out    io.Writer
	widths []int
}

// gap is between two columns.
const gap = 3

// print prints rows. paint colours a cell that is padded already; nil for no colours.
func (c *columns) print(rows [][]string, paint func(row, column int, padded string) string) error {
	for _, row := range rows {
		for i, cell := range row {
			if i == len(c.widths) {
				c.widths = append(c.widths, 0)
			}
			c.widths[i] = max(c.widths[i], utf8.RuneCountInString(cell))
		}
	}
	var text strings.Builder
	for at, row := range rows {
		last := len(row) - 1
		for last > 0 && row[last] == "" {
			last--
		}
		for i, cell := range row[:min(last+1, len(row))] {
			padded := cell
			if i < last {
				padded += strings.Repeat(" ", c.widths[i]+gap-utf8.RuneCountInString(cell))
			}
			if paint != nil {
				padded = paint(at, i, padded)
			}
			text.WriteString(padded)
		}
		text.WriteByte('\n')
	}
	_, err := fmt.Fprint(c.out, text.String())
	return err
}

// oneLine returns a text in one line, cut to a width.
func oneLine(text string, width int) string {
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); width > 0 && len(runes) > width {
		return string(runes[:max(width-3, 0)]) + "..."
	}
	return text
}
