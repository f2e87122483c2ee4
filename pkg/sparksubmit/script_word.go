package sparksubmit

import (
	"slices"
	"strconv"
	"strings"

	"github.com/firesteel-dev/firesteel/internal/lazy"
)

// word is a word of a script.
type word struct {
	// raw is how it is written.
	raw       string
	line, end int
	// text is the word after expansion. fields are the arguments that it becomes: none, one or several.
	text   string
	fields []string
	// list reports whether it is the value of an array.
	list              bool
	unknown, defaults []string
	// several are those of unknown that may become any number of fields.
	several []string
}

// builder makes a word of its parts.
type builder struct {
	word
	whole []byte
	parts [][]byte
	// open reports whether the last field goes on.
	open bool
}

// unknownWord returns a word for an expansion with an unknown value.
func unknownWord(raw string) word {
	return word{text: raw, fields: []string{raw}, unknown: []string{raw}}
}

// unknownValue returns the value of a variable that is known only when the script runs.
func unknownValue(name string, list bool) word {
	value := unknownWord("$" + name)
	if list {
		value = unknownWord("${" + name + "[@]}")
		value.list, value.several = true, value.unknown
	}
	return value
}

// literal adds a text without expansion. Beyond maxExpanded, it is cut.
func (b *builder) literal(text string) {
	b.append(text)
	b.toField(text)
}

func (b *builder) append(text string) {
	b.whole = append(b.whole, text[:min(len(text), maxExpanded+1-len(b.whole))]...)
}

// toField adds a text to the last field, or to a new one.
func (b *builder) toField(text string) {
	if b.tooLong() {
		return
	}
	if !b.open {
		b.parts, b.open = append(b.parts, nil), true
	}
	last := len(b.parts) - 1
	b.parts[last] = append(b.parts[last], text...)
}

// tooLong reports whether the word is longer than any command line. Such a word is refused.
func (b *builder) tooLong() bool { return len(b.whole)+len(b.parts) > maxExpanded }

// add adds the value of an expansion. In quotes it is one text. Without quotes, blanks divide it into fields.
func (b *builder) add(value word, quoted bool) {
	b.unknown, b.defaults, b.several = addNames(b.unknown, value.unknown), addNames(b.defaults, value.defaults), addNames(b.several, value.several)
	if !quoted && !value.list { // blanks of the value divide it
		b.several = addNames(b.several, value.unknown)
	}
	switch {
	case value.list:
		b.append(value.text)
		for i, field := range value.fields {
			b.open = b.open && i == 0
			b.toField(field)
		}
	case quoted || len(value.unknown) > 0:
		b.literal(value.text)
	default:
		b.append(value.text)
		for i, field := range strings.FieldsFunc(value.text, isBlank) {
			b.open = b.open && i == 0 && !isBlank(rune(value.text[0]))
			b.toField(field)
		}
		b.open = b.open && value.text != "" && !isBlank(rune(value.text[len(value.text)-1]))
	}
}

// built returns the word.
func (b *builder) built() word {
	w := b.word
	w.text = string(b.whole)
	for _, part := range b.parts {
		w.fields = append(w.fields, string(part))
	}
	return w
}

func isBlank(r rune) bool { return r == ' ' || r == '\t' || r == '\n' }

var assignment = lazy.Regexp(`^([A-Za-z_][A-Za-z0-9_]*\+?)=`)

// assigns reports whether the word sets a variable.
func (w word) assigns() bool { return assignment().MatchString(w.raw) }

// assignment returns the name and the value of a variable that the word sets; an empty name if it sets none. The name ends with a plus if the value is
// appended.
func (w word) assignment() (name string, value word) {
	parts := assignment().FindStringSubmatch(w.raw)
	if parts == nil {
		return "", word{}
	}
	value = word{text: strings.TrimPrefix(w.text, parts[0]), unknown: w.unknown, defaults: w.defaults, list: w.list}
	if w.list {
		value.several = w.several
	}
	if value.fields = []string{value.text}; w.list {
		value.fields = w.fields
	}
	return parts[1], value
}

// joined returns a value with another one appended.
func (w word) joined(more word) word {
	sum := word{
		text: w.text + more.text, list: w.list || more.list, unknown: addNames(slices.Clone(w.unknown), more.unknown),
		defaults: addNames(slices.Clone(w.defaults), more.defaults), several: addNames(slices.Clone(w.several), more.several),
	}
	if sum.fields = []string{sum.text}; sum.list {
		sum.fields = slices.Concat(w.fields, more.fields)
	}
	return sum
}

// wordEnds are the blanks and operators that end a word.
const wordEnds = " \t\n;&|()<>"

// word reads a word.
func (s *shell) word() (word, error) {
	b := &builder{word: word{line: s.line}}
	begin := s.at
	for s.at < len(s.text) && (!strings.ContainsRune(wordEnds, rune(s.text[s.at])) || s.placeholder() != "") {
		if err := s.part(b); err != nil {
			return b.word, err
		}
	}
	b.raw = s.text[begin:s.at]
	w := b.built()
	if strings.HasPrefix(s.text[s.at:], "(") && strings.HasSuffix(w.raw, "=") && w.assigns() {
		if err := s.list(&w); err != nil {
			return w, err
		}
	}
	w.end = s.at
	if s.expanded += len(w.text) + len(w.fields); s.expanded > maxExpanded {
		return w, s.tooLong(w.line)
	}
	return w, nil
}

func (s *shell) tooLong(line int) error {
	return s.errorAt(line, "its variables hold more than any command line: write what it submits as a line of its own")
}

// list reads the value of an array: (a "b c").
func (s *shell) list(w *word) error {
	line := s.line
	inner, err := s.balanced('(', ')')
	if err != nil {
		return err
	}
	elements := &shell{names: s.names, text: inner, line: line, nested: s.nested}
	w.list, w.fields = true, nil
	for elements.at < len(inner) {
		switch c := inner[elements.at]; {
		case c == '#':
			elements.skip(len(elements.until("\n")))
		case isBlank(rune(c)):
			elements.skip(1)
		case strings.HasPrefix(inner[elements.at:], "\\\n"):
			elements.skip(2)
		case strings.ContainsRune(wordEnds, rune(c)) && elements.placeholder() == "":
			return s.errorAt(elements.line, "the value of an array cannot be read: write it as words")
		default:
			element, err := elements.word()
			if err != nil {
				return err
			}
			w.fields = append(w.fields, element.fields...)
			w.unknown, w.defaults, w.several = addNames(w.unknown, element.unknown), addNames(w.defaults, element.defaults), addNames(w.several, element.several)
		}
	}
	w.text += strings.Join(w.fields, " ")
	return nil
}

// part reads a part of a word: a text, a quoted one, or an expansion.
func (s *shell) part(w *builder) error {
	rest := s.text[s.at:]
	switch c := rest[0]; {
	case strings.HasPrefix(rest, "\\\n"):
		s.skip(2)
	case c == '\\':
		w.literal(rest[1:min(2, len(rest))])
		s.skip(2)
	case c == '\'':
		text, err := s.quoted()
		if err != nil {
			return err
		}
		w.literal(text)
	case c == '"':
		return s.doubleQuoted(w)
	case strings.HasPrefix(rest, "$'"):
		s.skip(1)
		text, err := s.escaped()
		if err != nil {
			return err
		}
		w.literal(text)
	case strings.HasPrefix(rest, `$"`):
		s.skip(1)
		return s.doubleQuoted(w)
	case c == '$' || c == '`':
		return s.expansion(w, false)
	case s.placeholder() != "":
		name := s.placeholder()
		w.add(unknownWord(name), true)
		s.skip(len(name))
	default:
		text := before(rest, "\\'\"$`"+wordEnds)
		w.literal(text)
		s.skip(len(text))
	}
	return nil
}

// placeholder returns the placeholder of a documentation, such as <image>, with which the rest of the script begins; empty if it begins with none. To
// a shell that is a redirection, but no file has such a name.
func (s *shell) placeholder() string {
	if s.text[s.at] != '<' {
		return ""
	}
	if found := isPlaceholder().FindStringSubmatch(s.text[s.at:min(len(s.text), s.at+maxPlaceholder)]); found != nil {
		return found[1]
	}
	return ""
}

const maxPlaceholder = 128

var isPlaceholder = lazy.Regexp(`^(<[A-Za-z][A-Za-z0-9_.:/-]*(?: [A-Za-z][A-Za-z0-9_-]*)*>)(?:[ \t\r\n:/=,.\\"')\]-]|<[A-Za-z]|$)`)

// before returns what is before the first of some characters, of which the text does not begin with any.
func before(text, marks string) string {
	if end := strings.IndexAny(text, marks); end > 0 {
		return text[:end]
	}
	return text
}

// escape matches the escapes of $'...': a number of an octet or of a character, or a letter.
var escape = lazy.Regexp(`(?s)^\\(?:([0-7]{1,3})|x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|(.))`)

// escapes are the characters for which letters stand in $'...'.
var escapes = map[string]string{
	"a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", `\`: `\`, "'": "'", `"`: `"`, "?": "?",
}

// escaped reads a text of $'...' after the dollar.
func (s *shell) escaped() (string, error) {
	var text strings.Builder
	for at := s.at + 1; at < len(s.text); {
		found := escape().FindStringSubmatch(s.text[at:])
		switch {
		case s.text[at] == '\'':
			s.skip(at + 1 - s.at)
			return text.String(), nil
		case found == nil:
			text.WriteByte(s.text[at])
			at++
		default:
			text.WriteString(unescaped(found))
			at += len(found[0])
		}
	}
	return "", s.errorAt(s.line, "a single quote is not closed: close it")
}

// unescaped returns what an escape stands for. As in bash, one that is unknown stands for itself.
func unescaped(found []string) string {
	for group, base := range map[int]int{1: 8, 2: 16, 3: 16, 4: 16} {
		if number, err := strconv.ParseUint(found[group], base, 32); err == nil {
			if group <= 2 {
				return string([]byte{byte(number)})
			}
			return string(rune(number))
		}
	}
	if letter, known := escapes[found[5]]; known {
		return letter
	}
	return found[0]
}

// quoted reads a text between single quotes.
func (s *shell) quoted() (string, error) {
	text, _, closed := strings.Cut(s.text[s.at+1:], "'")
	if !closed {
		return "", s.errorAt(s.line, "a single quote is not closed: close it")
	}
	s.skip(len(text) + 2)
	return text, nil
}

// doubleQuoted reads a text between double quotes.
func (s *shell) doubleQuoted(w *builder) error {
	line := s.line
	s.skip(1)
	w.literal("")
	for s.at < len(s.text) {
		rest := s.text[s.at:]
		switch c := rest[0]; {
		case c == '"':
			s.skip(1)
			return nil
		case strings.HasPrefix(rest, "\\\n"):
			s.skip(2)
		case c == '\\' && len(rest) > 1 && strings.ContainsRune("$`\"\\", rune(rest[1])):
			w.literal(rest[1:2])
			s.skip(2)
		case c == '$' || c == '`':
			if err := s.expansion(w, true); err != nil {
				return err
			}
		case c == '\\':
			w.literal(rest[:1])
			s.skip(1)
		default:
			text := before(rest, "\"\\$`")
			w.literal(text)
			s.skip(len(text))
		}
	}
	return s.errorAt(line, "a double quote is not closed: close it")
}

var (
	variable  = lazy.Regexp(`^\$([A-Za-z_][A-Za-z0-9_]*)`)
	parameter = lazy.Regexp(`^\$[0-9@*#?$!-]`)
	// braced matches a name, the elements of an array, and a default.
	braced = lazy.Regexp(`(?s)^([A-Za-z_][A-Za-z0-9_]*)(\[[@*]\])?(?::?[-=](.*))?$`)
)

// expansion reads an expansion, which begins with a dollar or a backquote.
func (s *shell) expansion(w *builder, quoted bool) error {
	rest := s.text[s.at:]
	begin, line := s.at, s.line
	if w.tooLong() {
		return s.tooLong(line)
	}
	switch {
	case strings.HasPrefix(rest, "$("), rest[0] == '`':
		inner, err := s.substitution()
		if err != nil {
			return err
		}
		w.add(unknownWord(s.text[begin:s.at]), quoted)
		return s.nest(inner, line)
	case strings.HasPrefix(rest, "${"):
		s.skip(1)
		inner, err := s.balanced('{', '}')
		if err != nil {
			return err
		}
		value, err := s.braced(inner, line)
		w.add(value, quoted)
		return err
	}
	if found := variable().FindStringSubmatch(rest); found != nil {
		s.skip(len(found[0]))
		value, set := s.values[found[1]]
		if !set {
			value = unknownWord(found[0])
		}
		w.add(value.first(), quoted)
		return nil
	}
	if found := parameter().FindString(rest); found != "" {
		s.skip(len(found))
		value := unknownWord(found)
		if found == "$@" {
			value.several = value.unknown
		}
		w.add(value, quoted)
		return nil
	}
	w.literal("$")
	s.skip(1)
	return nil
}

// braced returns the value of ${inner}.
func (s *shell) braced(inner string, line int) (word, error) {
	raw := "${" + inner + "}"
	parts := braced().FindStringSubmatch(inner)
	if parts == nil {
		return unknownWord(raw), nil
	}
	if value, set := s.values[parts[1]]; set {
		if parts[2] == "" {
			value = value.first()
		}
		return value, nil
	}
	if len(inner) == len(parts[1])+len(parts[2]) || s.nested == maxNested {
		value := unknownWord(raw)
		if parts[2] == "[@]" {
			value.several = value.unknown
		}
		return value, nil
	}
	return s.defaulted(raw, parts[3], line)
}

// defaulted returns the default of ${NAME:-default}.
func (s *shell) defaulted(raw, text string, line int) (word, error) {
	inner, b := &shell{names: s.names, text: text, line: line, nested: s.nested + 1}, &builder{}
	for inner.at < len(text) {
		if strings.ContainsRune(wordEnds, rune(text[inner.at])) {
			b.literal(text[inner.at : inner.at+1])
			inner.skip(1)
		} else if err := inner.part(b); err != nil {
			return word{}, err
		}
	}
	value := b.built()
	value.fields = []string{value.text}
	value.defaults = addNames(value.defaults, []string{raw})
	return value, nil
}

// first returns the first element of an array, or else the value itself.
func (w word) first() word {
	if w.list {
		w.list, w.text = false, ""
		if len(w.fields) > 0 {
			w.text = w.fields[0]
		}
	}
	return w
}

// substitution reads a command substitution, and returns the command.
func (s *shell) substitution() (string, error) {
	if s.text[s.at] == '$' {
		s.skip(1)
		return s.balanced('(', ')')
	}
	line := s.line
	for at := s.at + 1; at < len(s.text); at++ {
		switch s.text[at] {
		case '\\':
			at++
		case '`':
			inner := s.text[s.at+1 : at]
			s.skip(at + 1 - s.at)
			return inner, nil
		}
	}
	return "", s.errorAt(line, "a backquote is not closed: close it")
}

// balanced reads the text between a bracket and its closing bracket. Inner brackets and quotes are part of it.
func (s *shell) balanced(begin, end byte) (string, error) {
	depth, line := 0, s.line
	for at := s.at; at < len(s.text); at++ {
		switch s.text[at] {
		case '\\':
			at++
		case '\'':
			if closing := strings.IndexByte(s.text[at+1:], '\''); closing >= 0 && end == ')' {
				at += closing + 1
			}
		case begin:
			depth++
		case end:
			if depth--; depth == 0 {
				inner := s.text[s.at+1 : at]
				s.skip(at + 1 - s.at)
				return inner, nil
			}
		}
	}
	return "", s.errorAt(line, "a bracket is not closed: close it")
}
