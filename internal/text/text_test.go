package text_test

import (
	"maps"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/firesteel-dev/firesteel/internal/text"
)

func TestTextsAreClippedBetweenCharacters(t *testing.T) {
	for name, row := range map[string]struct{ given, want string }{
		"short":                 {"abc", "abc"},
		"as long as it may be":  {"abcdefgh", "abcdefgh"},
		"long":                  {"abcdefghi", "abcde..."},
		"within a character":    {"abcdéfghi", "abcd..."},
		"within a long one":     {"abc😀😀😀", "abc..."},
		"of nothing that shows": {strings.Repeat("\xff", 9), "..."},
	} {
		if got := text.Clip(row.given, 8); got != row.want || len(got) > 8 || !utf8.ValidString(got) {
			t.Errorf("%s: %q is clipped to %q, want %q", name, row.given, got, row.want)
		}
	}
}

func TestEntriesAreTheFirstByTheirKeys(t *testing.T) {
	all := map[string]string{"c": "3", "a": "1", "b": "2"}
	for limit, want := range map[int]map[string]string{0: {}, 2: {"a": "1", "b": "2"}, 3: all, 4: all} {
		if got := text.Entries(all, limit); !maps.Equal(got, want) {
			t.Errorf("of at most %d entries there are %v, want %v", limit, got, want)
		}
	}
}

func TestFormatClipsTexts(t *testing.T) {
	type named string
	long := strings.Repeat("x", 1000)
	got := text.Format("%s %q %d %s", named(long), long, 7, "short")
	if want := strings.Repeat("x", 253) + `... "` + strings.Repeat("x", 253) + `..." 7 short`; got != want {
		t.Errorf("it is %q", got)
	}
}
