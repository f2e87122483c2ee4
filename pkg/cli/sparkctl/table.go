package sparkctl

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// table prints rows in a frame, with a row on one line: | etl | RUNNING |.
type table struct {
	headers []string
	rows    [][]string
	widths  []int
}

func newTable(headers ...string) *table {
	t := &table{widths: make([]int, len(headers))}
	for _, header := range headers {
		t.headers = append(t.headers, strings.ToUpper(header))
	}
	t.fit(t.headers)
	return t
}

// wide sets the least widths of the columns.
func (t *table) wide(least ...int) *table {
	for i, width := range least {
		t.widths[i] = max(t.widths[i], width)
	}
	return t
}

// add adds a row. Line breaks in a cell become spaces.
func (t *table) add(cells ...string) {
	for i := range cells {
		cells[i] = strings.Join(strings.Fields(cells[i]), " ")
	}
	t.fit(cells)
	t.rows = append(t.rows, cells)
}

func (t *table) fit(cells []string) {
	for i, cell := range cells {
		t.widths[i] = max(t.widths[i], utf8.RuneCountInString(cell))
	}
}

// flush prints the rows that were added. first prints the headers before them, and last the end of the frame after them.
func (t *table) flush(out io.Writer, first, last bool) error {
	var text strings.Builder
	if first {
		t.rule(&text)
		t.line(&text, t.headers, centred)
		t.rule(&text)
	}
	for _, row := range t.rows {
		t.line(&text, row, func(cell string, width int) string { return cell + spaces(width-utf8.RuneCountInString(cell)) })
	}
	if last {
		t.rule(&text)
	}
	t.rows = nil
	_, err := fmt.Fprint(out, text.String())
	return err
}

func (t *table) rule(text *strings.Builder) {
	for _, width := range t.widths {
		text.WriteString("+" + strings.Repeat("-", width+2))
	}
	text.WriteString("+\n")
}

func (t *table) line(text *strings.Builder, cells []string, pad func(cell string, width int) string) {
	for i, cell := range cells {
		text.WriteString("| " + pad(cell, t.widths[i]) + " ")
	}
	text.WriteString("|\n")
}

func centred(cell string, width int) string {
	gap := width - utf8.RuneCountInString(cell)
	return spaces(gap/2) + cell + spaces(gap-gap/2)
}

func spaces(count int) string { return strings.Repeat(" ", max(count, 0)) }
