package redact

import "strings"

// A text within JSON has some characters escaped, by more than one backslash if that JSON is in JSON.

const (
	escapedAmpersand = `\u0026`
	escapedEquals    = `\u003d`
	escapedSlash     = `\u002f`
)

// escapeLength is the length of the escaped character that a text begins with: of its backslashes, and of what belongs to them.
func escapeLength(text string) int {
	width := len(text) - len(strings.TrimLeft(text, `\`))
	switch rest := text[width:]; {
	case strings.HasPrefix(rest, "n"):
		return width + 1
	case strings.HasPrefix(rest, "u") && len(rest) >= 5 && strings.Trim(rest[1:5], "0123456789abcdefABCDEF") == "":
		return width + 5
	default:
		return width
	}
}

// equalsLength is the length of the equals sign that a text begins with; 0 if there is none.
func equalsLength(text string) int {
	if strings.HasPrefix(text, "=") {
		return 1
	}
	return escapedLength(text, escapedEquals)
}

// escapedLength is the length of the escaped character that a text begins with, if it is the given one; else it is 0.
func escapedLength(text, character string) int {
	if !strings.HasPrefix(text, `\`) {
		return 0
	}
	width := escapeLength(text)
	if width < len(character) || !strings.EqualFold(text[width-len(character):width], character) {
		return 0
	}
	return width
}

// authorityLength is the length of what is before the authority of a URL, if a text begins with that: of ://, whose slashes may be
// escaped. Else it is 0.
func authorityLength(text string) int {
	if !strings.HasPrefix(text, ":") {
		return 0
	}
	width := 1
	for range 2 {
		slash := escapedLength(text[width:], escapedSlash)
		if rest := strings.TrimLeft(text[width:], `\`); slash == 0 && strings.HasPrefix(rest, "/") {
			slash = len(text) - len(rest) + 1 - width
		}
		if slash == 0 {
			return 0
		}
		width += slash
	}
	return width
}

// endsWithAuthority reports whether the authority of a URL begins where a text ends.
func endsWithAuthority(text string) bool {
	const longest = 64
	text = text[max(0, len(text)-longest):]
	colon := strings.LastIndexByte(text, ':')
	return colon >= 0 && authorityLength(text[colon:]) == len(text)-colon
}

// parameterEnd is where the value of a URL's parameter ends that a text begins with.
func parameterEnd(text string) int {
	for i := 0; i < len(text); {
		if text[i] == '&' || text[i] == ';' || escapedLength(text[i:], escapedAmpersand) > 0 {
			return i
		}
		i += max(1, escapeLength(text[i:]))
	}
	return len(text)
}
