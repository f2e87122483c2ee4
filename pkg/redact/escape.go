package redact

import "strings"

// In JSON, some characters are escaped. If the JSON is itself a string in JSON, they have more than one backslash.

const (
	escapedAmpersand = `\u0026`
	escapedEquals    = `\u003d`
	escapedSlash     = `\u002f`
)

// escapeLength returns the length of the escaped character at the beginning of a text, including its backslashes.
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

// equalsLength returns the length of the equals sign at the beginning of a text, or 0.
func equalsLength(text string) int {
	if strings.HasPrefix(text, "=") {
		return 1
	}
	return escapedLength(text, escapedEquals)
}

// escapedLength returns the length of the given escaped character at the beginning of a text, or 0.
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

// authorityLength returns the length of :// at the beginning of a text, or 0. Its slashes may be escaped.
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

// endsWithAuthority reports whether a text ends with ://.
func endsWithAuthority(text string) bool {
	const longest = 64
	text = text[max(0, len(text)-longest):]
	colon := strings.LastIndexByte(text, ':')
	return colon >= 0 && authorityLength(text[colon:]) == len(text)-colon
}

// parameterEnd returns the end of a URL parameter's value at the beginning of a text.
func parameterEnd(text string) int {
	for i := 0; i < len(text); {
		if text[i] == '&' || text[i] == ';' || escapedLength(text[i:], escapedAmpersand) > 0 {
			return i
		}
		i += max(1, escapeLength(text[i:]))
	}
	return len(text)
}
