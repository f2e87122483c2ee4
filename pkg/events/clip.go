package events

import (
	"strings"
	"unicode/utf8"
)

const ellipsis = "…"

// clip cuts a text so that its JSON string has at most limit bytes, without the quotes.
func clip(text string, limit int) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	size, cut := 0, 0
	for at, r := range text {
		size += encodedSize(r)
		if size > limit {
			return text[:cut] + ellipsis
		}
		if size <= limit-len(ellipsis) {
			cut = at + utf8.RuneLen(r)
		}
	}
	return text
}

// encodedSize returns an upper bound for the bytes that encoding/json writes for a rune.
func encodedSize(r rune) int {
	switch {
	case r < ' ', r == '<', r == '>', r == '&', r == '\u007f', r == '\u2028', r == '\u2029':
		return len(`\u0000`)
	case r == '"', r == '\\':
		return len(`\"`)
	default:
		return utf8.RuneLen(r)
	}
}
