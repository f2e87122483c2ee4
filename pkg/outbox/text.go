package outbox

import (
	"encoding/json"
	"math"
	"sort"
	"strings"

	"github.com/firesteel-dev/firesteel/pkg/redact"
)

// MaxMessage, MaxEvidence and MaxReason bound the texts in a transition, in bytes of JSON.
const (
	MaxMessage  = 1024
	MaxEvidence = 2048
	MaxReason   = 128
)

// Clip redacts a text, and cuts it to a limit in bytes of JSON. All texts in a record pass through it.
func Clip(text string, limit int) string {
	const ellipsis = "..."
	text = strings.ToValidUTF8(redact.Text(text), "\uFFFD")
	if len(text) <= limit && Size(text) <= limit {
		return text
	}
	text = text[:min(len(text), limit)]
	tooLong := func(n int) bool { return Size(text[:n])+len(ellipsis) > limit }
	cut := max(sort.Search(len(text), tooLong)-1, 0)
	return strings.ToValidUTF8(text[:cut], "") + ellipsis // drops an incomplete character
}

// Size returns the size of a value in bytes of JSON.
func Size(value any) int {
	encoded, err := json.Marshal(value)
	if err != nil {
		return math.MaxInt
	}
	return len(encoded)
}
