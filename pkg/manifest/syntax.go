package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	yamlv3 "go.yaml.in/yaml/v3"

	"github.com/firesteel-dev/firesteel/internal/lazy"
	"github.com/firesteel-dev/firesteel/pkg/finding"
)

// unmarshal parses a text that is one document. If more follows, it is an error, and not ignored as by yaml.Unmarshal.
func unmarshal(text []byte, root *yamlv3.Node) error {
	decoder := yamlv3.NewDecoder(bytes.NewReader(text))
	var next yamlv3.Node
	err := decoder.Decode(root)
	if err == nil {
		err = decoder.Decode(&next)
	}
	switch {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return err
	default:
		return fmt.Errorf("line %d: a second document begins", next.Line)
	}
}

// unreadable returns the manifest of a document that cannot be parsed.
func (d document) unreadable(err error) *Manifest {
	message, line := splitError(err)
	problem := &finding.Finding{Reason: "Syntax", Text: fmt.Sprintf("the document is no YAML (%s)", message), Remedy: remedyFor(message)}
	if at := d.templateAt(); at >= 0 {
		problem.Text = "the document is a template, and no YAML"
		problem.Remedy = "render it first, such as by helm template CHART | kubectl spark lint -f -"
		return &Manifest{Line: d.lineOf(at), Problem: problem}
	}
	if strings.HasPrefix(message, "did not find expected <document start>") {
		problem.Text = "an object ends before this line, so that the line belongs to none"
	}
	tabbed := strings.HasPrefix(message, "found character that cannot start any token") && d.hasTab(line) || strings.HasPrefix(message, "found a tab")
	if tabbed {
		problem.Text, problem.Remedy = "the line is indented by a tab, which YAML does not take", "indent it by spaces"
	}
	if glued := d.gluedColon(line); glued > 0 && strings.HasPrefix(message, "mapping values are not allowed") {
		problem.Text, problem.Remedy = "the line is no field, since its colon has no blank after it", "write a blank after the colon"
		return &Manifest{Line: d.before + glued, Problem: problem}
	}
	at := d.before + line
	switch {
	case !utf8.Valid(d.text):
		at = d.lineOf(bytes.IndexFunc(d.text, func(r rune) bool { return r == utf8.RuneError }))
	case (tabbed || line == 0 || strings.HasPrefix(message, "did not find expected")) && len(d.text) <= maxSearched:
		at = d.before + d.brokenAt(message)
	}
	return &Manifest{Line: max(at, d.before+1), Problem: problem}
}

// maxSearched bounds a document in which the exact line of a problem is searched. In a larger one, the parser's line is taken.
const maxSearched = 256 << 10

// lineOf returns the line of the file of an offset in the document.
func (d document) lineOf(offset int) int {
	return d.before + 1 + bytes.Count(d.text[:offset], []byte("\n"))
}

// templatePart matches a {{ of a template that is not in quotes.
var templatePart = regexp.MustCompile(`(?m)(?:^| )(\{\{)`)

// templateAt returns the offset of the first part of a template; -1 if the document has none.
func (d document) templateAt() int {
	if found := templatePart.FindSubmatchIndex(d.text); found != nil {
		return found[2]
	}
	return -1
}

// splitError returns the message of an error of the parser, and its line; 0 if the error names none.
func splitError(err error) (message string, line int) {
	message = strings.TrimPrefix(err.Error(), "error converting YAML to JSON: ")
	message, _, _ = strings.Cut(strings.TrimPrefix(message, "yaml: "), "\n")
	if rest, found := strings.CutPrefix(message, "line "); found {
		number, text, cut := strings.Cut(rest, ": ")
		if parsed, err := strconv.Atoi(number); err == nil && cut {
			return text, parsed
		}
	}
	return message, 0
}

// remedies are the remedies by the beginning of the parser's message.
var remedies = []struct{ message, remedy string }{
	{"did not find expected <document start>", "remove it, or write a line of --- before it"},
	{"a second document begins", "write a line of --- before it, and nothing else in that line"},
	{"did not find expected key", "indent the line as its neighbours, or write its value in quotes"},
	{"did not find expected '-' indicator", "indent the line as the other entries of the list, and begin it with a hyphen"},
	{"did not find expected ','", "close the bracket, or write a comma between its entries"},
	{"could not find expected ':'", "write a colon and a blank after the name"},
	{"mapping values are not allowed", "indent the line as its neighbours, or write its value in quotes"},
	{"found unexpected end of stream", "close the quotes"},
	{"found unknown escape character", "write the text in single quotes, or the backslash twice"},
	{"control characters are not allowed", "name a file of text in UTF-8"},
	{"invalid leading UTF-8 octet", "save the file as UTF-8"},
	{"invalid trailing UTF-8 octet", "save the file as UTF-8"},
	{"found character that cannot start any token", "write the value in quotes"},
	{"document contains excessive aliasing", "write the values in the place of their aliases"},
	{"unknown anchor", "define the anchor before its alias, or write a value that begins with * in quotes"},
	{"invalid map key", "write the name of the field as a text"},
	{"did not find expected alphabetic or numeric character", "write a value that begins with * or & in quotes, such as \"* * * * *\""},
}

func remedyFor(message string) string {
	for _, known := range remedies {
		if strings.HasPrefix(message, known.message) {
			return known.remedy
		}
	}
	return "correct it"
}

// brokenAt returns the first line after which the document has the problem. The parser names the line on which the broken part begins.
func (d document) brokenAt(message string) int {
	ends := d.lineEnds()
	return 1 + sort.Search(len(ends), func(i int) bool {
		var root yamlv3.Node
		err := unmarshal(d.text[:ends[i]], &root)
		if err == nil {
			return false
		}
		found, _ := splitError(err)
		return found == message
	})
}

// glued matches a line with a field whose value follows the colon without a blank.
var glued = lazy.Regexp(`^\s*(- )?[A-Za-z][A-Za-z0-9]*:[^\s:/]+\s*$`)

// gluedColon returns the line of the document before the given one, or itself, in which a colon has no blank after it; 0 if there is none.
func (d document) gluedColon(line int) int {
	lines := bytes.Split(d.text, []byte("\n"))
	for _, at := range []int{line - 1, line} {
		if at > 0 && at <= len(lines) && glued().Match(lines[at-1]) {
			return at
		}
	}
	return 0
}

// lineEnds returns where the lines of the document end.
func (d document) lineEnds() (ends []int) {
	for at, letter := range d.text {
		if letter == '\n' {
			ends = append(ends, at+1)
		}
	}
	return append(ends, len(d.text))
}

// hasTab reports whether a line is indented by a tab.
func (d document) hasTab(line int) bool {
	ends := d.lineEnds()
	if line > len(ends) {
		return false
	}
	begin := 0
	if line > 1 {
		begin = ends[line-2]
	}
	text := d.text[begin:ends[line-1]]
	return bytes.IndexByte(text[:len(text)-len(bytes.TrimLeft(text, " \t"))], '\t') >= 0
}
