package text

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxArgument is how many bytes of an argument a message has.
const maxArgument = 128

// Pasted says what is wrong about an argument of a command line that begins with a typographic dash or quote: text processors and web pages put them
// in the place of hyphens and of plain quotes. It returns an empty text for any other argument.
func Pasted(argument string) string {
	first, _ := utf8.DecodeRuneInString(argument)
	switch first {
	case '‐', '‑', '‒', '–', '—', '―', '−':
	case '“', '”', '„', '‘', '’', '‚', '«':
		return fmt.Sprintf("%s begins with a typographic quote (%c): write ' or \"", Clip(argument, maxArgument), first)
	default:
		return ""
	}
	given, _, _ := strings.Cut(argument, "=")
	name := strings.TrimLeft(given, "-‐‑‒–—―−")
	hyphens := "--"
	if utf8.RuneCountInString(name) == 1 {
		hyphens = "-"
	}
	return fmt.Sprintf("%s begins with a typographic dash (%c): write %s%s", Clip(given, maxArgument), first, hyphens, Clip(name, maxArgument))
}
