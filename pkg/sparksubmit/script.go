package sparksubmit

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/firesteel-dev/firesteel/internal/lazy"
)

// Command is a command line of spark-submit in a shell script.
type Command struct {
	// Line is the line on which it begins, from 1.
	Line      int
	Arguments []string
	// Lines are the lines on which the arguments begin.
	Lines []int
	// Unknown are the expansions whose value is known only when the script runs, and placeholders such as <image>. The arguments have them as they
	// are written.
	Unknown []string
	// Several are those of Unknown that may become any number of arguments, such as "$@".
	Several []string
	// Defaults are the expansions with a default, of variables that the script does not set. The arguments have the defaults.
	Defaults []string
	// Environment are the variables that the script sets for it.
	Environment map[string]string
}

// Commands returns the command lines of spark-submit in a script for a POSIX shell or bash. It executes nothing. It knows the variables that the
// script sets to texts, outside of conditions and loops.
func Commands(script string) ([]Command, error) {
	s := &shell{text: strings.ReplaceAll(script, "\r\n", "\n"), line: 1, names: &names{values: map[string]word{}, exported: map[string]bool{}}}
	if err := s.run(); err != nil {
		return nil, err
	}
	return s.found, nil
}

const (
	program = "spark-submit"
	// maxNested bounds the depth of scripts in words of scripts, such as sh -c '...'.
	maxNested = 8
	// maxExpanded bounds the total size of all words after expansion: variables can make them grow exponentially.
	maxExpanded = 4 << 20
	// maxNamed bounds the expansions that a word or a command remembers.
	maxNamed = 64
)

// names are the variables of a script. Scripts within it share them.
type names struct {
	values   map[string]word
	exported map[string]bool
	expanded int
}

// shell reads a script.
type shell struct {
	*names
	text     string
	at, line int
	// compound is the number of open conditions and loops. nested is the depth of this script in others.
	compound, nested int
	// conditional reports whether the statement runs only after the success or failure of another: a || b. sets reports whether the last statement set
	// variables.
	conditional, sets bool
	// words are those of the statement.
	words []word
	// documents are the end marks of the here-documents that follow the line.
	documents []string
	found     []Command
}

func (s *shell) run() error {
	for s.at < len(s.text) {
		if err := s.step(); err != nil {
			return err
		}
	}
	return s.end()
}

// step reads a word, a separator of statements, or what is between them.
func (s *shell) step() error {
	switch c := s.text[s.at]; {
	case c == '\n':
		s.skip(1)
		s.skipDocuments()
		return s.end()
	case c == ' ' || c == '\t' || c == '\r':
		s.skip(1)
	case strings.HasPrefix(s.text[s.at:], "\\\n"):
		s.skip(2)
	case c == '#':
		s.skip(len(s.until("\n")))
	case (c == '<' || c == '>' || strings.HasPrefix(s.text[s.at:], "&>")) && s.placeholder() == "":
		return s.redirect()
	case strings.HasPrefix(s.text[s.at:], "&&") || strings.HasPrefix(s.text[s.at:], "||"):
		earlier := s.conditional
		s.skip(len("&&"))
		err := s.end()
		s.conditional = earlier || c == '|' || !s.sets
		return err
	case strings.ContainsRune(";&|()", rune(c)):
		s.skip(1)
		return s.end()
	default:
		w, err := s.word()
		if err != nil {
			return err
		}
		s.words = append(s.words, w)
	}
	return nil
}

// skip advances by a number of bytes.
func (s *shell) skip(count int) {
	count = min(count, len(s.text)-s.at)
	s.line += strings.Count(s.text[s.at:s.at+count], "\n")
	s.at += count
}

// until returns the text before the next mark, or all that is left.
func (s *shell) until(mark string) string {
	text, _, _ := strings.Cut(s.text[s.at:], mark)
	return text
}

// redirect skips a redirection with its file. The number before it is no word of the statement.
func (s *shell) redirect() error {
	if last := len(s.words) - 1; last >= 0 && s.words[last].end == s.at && isNumber().MatchString(s.words[last].raw) {
		s.words = s.words[:last]
	}
	operator := redirection().FindString(s.text[s.at:])
	s.skip(len(operator))
	if strings.HasSuffix(operator, "&-") { // closes a file
		return nil
	}
	if strings.HasPrefix(s.text[s.at:], "(") { // a process in the place of a file
		line := s.line
		inner, err := s.balanced('(', ')')
		if err != nil {
			return err
		}
		return s.nest(inner, line)
	}
	for s.at < len(s.text) && (s.text[s.at] == ' ' || s.text[s.at] == '\t') {
		s.skip(1)
	}
	file, err := s.word()
	if err == nil && (operator == "<<" || operator == "<<-") {
		s.documents = append(s.documents, file.text)
	}
	return err
}

var (
	isNumber    = lazy.Regexp(`^[0-9]+$`)
	redirection = lazy.Regexp(`^(&>>?|<<<|<<-?|<>|>\||[<>]&-?|>>?|<)`)
)

// skipDocuments skips the here-documents that follow a line.
func (s *shell) skipDocuments() {
	for _, end := range s.documents {
		for s.at < len(s.text) {
			line := s.until("\n")
			s.skip(len(line) + 1)
			if strings.TrimLeft(line, "\t") == end {
				break
			}
		}
	}
	s.documents = nil
}

// end ends a statement.
func (s *shell) end() error {
	if len(s.words) == 0 {
		return nil
	}
	s.sets = false
	err := s.statement(s.words)
	s.words, s.conditional = nil, false
	return err
}

// statement reads a statement: it sets variables, or runs a command.
func (s *shell) statement(words []word) error {
	loop := false
	for len(words) > 0 {
		change, keyword := keywords[words[0].raw]
		if !keyword {
			break
		}
		s.compound += change
		loop = words[0].raw == "for" || words[0].raw == "select"
		words = words[1:]
	}
	assigned := 0
	for assigned < len(words) && words[assigned].assigns() {
		assigned++
	}
	switch {
	case len(words) == 0:
		return nil
	case loop:
		s.change(words[:1])
		return nil
	case assigned == len(words):
		s.assign(words, false)
		return nil
	case declarations[words[assigned].raw]:
		s.assign(words[assigned+1:], words[assigned].raw == "export" || slices.ContainsFunc(words, func(w word) bool { return w.raw == "-x" }))
		return nil
	default:
		return s.command(words[:assigned], words[assigned:])
	}
}

// keywords may stand before the command of a statement. The values are their changes of the number of open conditions and loops.
var keywords = map[string]int{
	"if": 1, "while": 1, "until": 1, "for": 1, "select": 1, "case": 1, "fi": -1, "done": -1, "esac": -1,
	"then": 0, "else": 0, "elif": 0, "do": 0, "!": 0, "{": 0, "}": 0, "time": 0,
}

// declarations are commands that set variables.
var declarations = map[string]bool{"export": true, "readonly": true, "local": true, "declare": true, "typeset": true}

// change marks variables as unknown: their values are known only when the script runs.
func (s *shell) change(words []word) {
	for _, w := range words {
		if isName().MatchString(w.raw) {
			s.values[w.raw] = unknownWord("$" + w.raw)
		}
	}
}

var isName = lazy.Regexp(`^[A-Za-z_][A-Za-z0-9_]*$`)

// assign sets variables. What is set within a condition or a loop is not known after it.
func (s *shell) assign(words []word, exported bool) {
	s.sets = true
	for _, w := range words {
		name, value := w.assignment()
		if name == "" {
			name = w.raw
		} else {
			known, added := strings.CutSuffix(name, "+")
			if s.compound > 0 || s.conditional {
				value = unknownValue(known, value.list || s.values[known].list)
			}
			if name = known; added {
				value = s.values[name].joined(value)
			}
			s.values[name] = value
		}
		if exported {
			s.exported[name] = true
		}
	}
}

// command looks for spark-submit in a statement. Programs that run it may stand before it, such as sudo.
func (s *shell) command(assigned, words []word) error {
	switch name := path.Base(words[0].text); {
	case changing[name]:
		s.change(words[1:])
		return nil
	case notRun[name]:
		return nil
	}
	at := slices.IndexFunc(words, func(w word) bool { return len(w.fields) == 1 && path.Base(w.text) == program })
	if at < 0 {
		for _, w := range words {
			if strings.Contains(w.text, program) && strings.ContainsAny(w.text, " \t\n") {
				if err := s.nest(w.text, w.line); err != nil { // sh -c, ssh
					return err
				}
			}
		}
		return nil
	}
	found := Command{Line: words[at].line, Environment: s.environment(assigned)}
	for _, w := range words[at+1:] {
		found.Arguments = append(found.Arguments, w.fields...)
		for range w.fields {
			found.Lines = append(found.Lines, w.line)
		}
		found.Unknown, found.Defaults = addNames(found.Unknown, w.unknown), addNames(found.Defaults, w.defaults)
		found.Several = addNames(found.Several, w.several)
	}
	s.expanded += len(found.Environment)
	s.found = append(s.found, found)
	return nil
}

// changing are commands that set or unset the variables which their arguments name.
var changing = map[string]bool{"read": true, "unset": true, "mapfile": true, "readarray": true, "getopts": true}

// notRun are commands that do not run what their arguments name.
var notRun = map[string]bool{
	"echo": true, "printf": true, "which": true, "type": true, "hash": true, "alias": true, "test": true, "[": true, "[[": true, "cat": true,
	"cp": true, "ln": true, "ls": true, "rm": true, "chmod": true, "grep": true, "source": true, ".": true, "set": true, "command": true,
}

// environment returns the variables that a command gets from the script, if their values are known.
func (s *shell) environment(assigned []word) map[string]string {
	all := map[string]string{}
	for name := range s.exported {
		if value, set := s.values[name]; set && len(value.unknown) == 0 {
			all[name] = value.text
		}
	}
	for _, w := range assigned {
		if name, value := w.assignment(); len(value.unknown) == 0 {
			all[name] = value.text
		}
	}
	return all
}

// nest reads a script within a word that begins on a line.
func (s *shell) nest(text string, line int) error {
	if s.nested == maxNested || !strings.Contains(text, program) {
		return nil
	}
	inner := &shell{names: s.names, text: text, line: line, nested: s.nested + 1, compound: s.compound}
	if err := inner.run(); err != nil {
		return err
	}
	for _, found := range inner.found {
		found.Line = min(found.Line, s.line) // a variable may hold more lines than the script
		for i := range found.Lines {
			found.Lines[i] = min(found.Lines[i], s.line)
		}
		s.found = append(s.found, found)
	}
	return nil
}

// addNames adds expansions to a list, each once.
func addNames(names, more []string) []string {
	for _, name := range more {
		if len(names) < maxNamed && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// errorAt returns an error with its line.
func (s *shell) errorAt(line int, message string) error {
	return &ScriptError{Line: line, message: message}
}

// ScriptError reports that a script cannot be read.
type ScriptError struct {
	Line    int
	message string
}

func (e *ScriptError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.message) }

// Message is the error without its line.
func (e *ScriptError) Message() string { return e.message }
