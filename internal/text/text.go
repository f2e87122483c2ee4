// Package text bounds texts of users that Firesteel repeats, and makes small texts of its own.
package text

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

const ellipsis = "..."

// Clip returns a text of at most limit bytes of UTF-8, with an ellipsis in place of what does not fit.
func Clip(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:max(limit-len(ellipsis), 0)], "") + ellipsis
}

// maxValue is how many bytes of a value Format writes.
const maxValue = 256

// Format is fmt.Sprintf with each text among the values clipped.
func Format(format string, values ...any) string {
	clipped := make([]any, len(values))
	for i, value := range values {
		if field := reflect.ValueOf(value); field.Kind() == reflect.String {
			value = Clip(field.String(), maxValue)
		}
		clipped[i] = value
	}
	return fmt.Sprintf(format, clipped...)
}

// Entries returns a map with at most limit entries: the first ones in the order of their keys. A map that is small enough is returned as it is.
func Entries(all map[string]string, limit int) map[string]string {
	if len(all) <= limit {
		return all
	}
	bounded := make(map[string]string, limit)
	for _, key := range slices.Sorted(maps.Keys(all))[:limit] {
		bounded[key] = all[key]
	}
	return bounded
}

// Count returns a number with its noun: 1 file, 2 files.
func Count(number int, noun string) string {
	if number == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", number, noun)
}
