// Package text keeps texts of users within bounds wherever Firesteel repeats them.
package text

import "strings"

const ellipsis = "..."

// Clip returns a text of at most limit bytes of UTF-8, with an ellipsis in the place of what does not fit.
func Clip(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:max(limit-len(ellipsis), 0)], "") + ellipsis
}
