package events

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestTextsOfEventsAreClippedToBytes(t *testing.T) {
	cases := map[string]struct {
		text  string
		limit int
		want  string
	}{
		"an empty text stays empty":          {"", 10, ""},
		"a text that just fits stays":        {"0123456789", 10, "0123456789"},
		"a longer text is cut":               {"0123456789a", 10, "0123456…"},
		"a rune is not cut in two":           {"ééééééé", 12, "éééé…"},
		"an escaped rune counts as encoded":  {"\x01\x01\x01", 12, "\x01…"},
		"invalid UTF-8 is replaced":          {"a\xffb", 10, "a\uFFFDb"},
		"quotes count twice":                 {`""""""`, 10, `"""…`},
		"a limit below the ellipsis cuts it": {"abc", 2, "…"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := clip(tc.text, tc.limit); got != tc.want {
				t.Errorf("clip(%q, %d) = %q, want %q", tc.text, tc.limit, got, tc.want)
			}
		})
	}
}

func FuzzClip(f *testing.F) {
	f.Add("plain", 4)
	f.Add(strings.Repeat("é\x00\xff<\u2028", 100), 64)
	f.Fuzz(func(t *testing.T, text string, limit int) {
		if limit < len(ellipsis) || limit > 1<<16 {
			return
		}
		got := clip(text, limit)
		coded, err := json.Marshal(got)
		must(t, err)
		if len(coded)-2 > limit || !utf8.ValidString(got) {
			t.Errorf("clip(%q, %d) = %q, %d bytes as JSON", text, limit, got, len(coded)-2)
		}
		if again := clip(got, limit); again != got {
			t.Errorf("clipped twice %q becomes %q", got, again)
		}
	})
}
