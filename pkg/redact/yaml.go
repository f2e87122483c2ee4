package redact

import "strings"

// isBlock reports whether a YAML block begins at p: the line has only | or >, and its modifiers.
func (f *finder) isBlock(p int) bool {
	_, isBlock := f.blockHeader(p)
	return isBlock
}

// blockHeader returns the end of the line at p, if that line begins a YAML block.
func (f *finder) blockHeader(p int) (end int, isBlock bool) {
	if p >= len(f.text) || f.text[p] != '|' && f.text[p] != '>' {
		return 0, false
	}
	const longest = 128
	header := f.text[p+1 : min(len(f.text), p+longest)]
	end = lineEnd(header)
	if end == len(header) {
		return 0, false
	}
	rest := strings.TrimSpace(strings.TrimLeft(header[:end], "+-0123456789"))
	return p + 1 + end, rest == "" || strings.HasPrefix(rest, "#")
}

// block returns the YAML block whose header is at p: the lines that are indented more than its key.
func (f *finder) block(p int) (start, end int, isBlock bool) {
	start, isBlock = f.blockHeader(p)
	if !isBlock {
		return 0, 0, false
	}
	quoted := newlineLength(f.text[start:]) > 1
	indent, first := f.indent(p, quoted), start
	for end = start; end < len(f.text); {
		line := end + newlineLength(f.text[end:])
		blanks := len(f.text[line:]) - len(strings.TrimLeft(f.text[line:], " "))
		next := line + lineEnd(f.text[line:])
		isEmpty := next == line+blanks
		if !isEmpty && blanks <= indent {
			break
		}
		if first == start && !isEmpty {
			first = line + blanks
		}
		if end = next; quoted {
			if quote := strings.IndexByte(f.text[line:next], '"'); quote >= 0 && f.text[line+quote-1] != '\\' {
				end = line + quote // the quoted text ends
				break
			}
		}
	}
	if first == start {
		return start, start, true
	}
	return first, first + len(strings.TrimRight(f.text[first:end], " \r\n")), true
}

// indent returns the indentation of the key whose value is at p, including dashes. Within quotes, a line begins after the quote or
// after an escaped newline.
func (f *finder) indent(p int, quoted bool) int {
	begin := p
	for begin > 0 && f.text[begin-1] != '\n' && !(quoted && (f.text[begin-1] == '"' || strings.HasSuffix(f.text[:begin], escapedNewline))) {
		begin--
	}
	line := f.text[begin:p]
	return len(line) - len(strings.TrimLeft(strings.ReplaceAll(line, "- ", "  "), " "))
}

// lineEnd returns the end of the first line of a text, also within quotes.
func lineEnd(text string) int {
	for i := 0; i < len(text); {
		if newlineLength(text[i:]) > 0 {
			return i
		}
		i += max(1, escapeLength(text[i:]))
	}
	return len(text)
}

// newlineLength returns the length of the newline at the beginning of a text, or 0.
func newlineLength(text string) int {
	switch width := len(text) - len(strings.TrimLeft(text, `\`)); {
	case strings.HasPrefix(text, "\n"):
		return 1
	case width > 0 && strings.HasPrefix(text[width:], "n"):
		return width + 1
	default:
		return 0
	}
}
