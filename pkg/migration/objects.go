package migration

import (
	"regexp"
	"strings"

	"github.com/firesteel-dev/firesteel/internal/text"
	"github.com/firesteel-dev/firesteel/pkg/finding"
)

// CountsOf returns the counts of a kind. It adds them if the report has none.
func (r *Report) CountsOf(kind string) *KindCounts {
	for _, known := range r.Kinds {
		if known.Kind == kind {
			return known
		}
	}
	added := &KindCounts{Kind: kind, States: map[string]int{}}
	r.Kinds = append(r.Kinds, added)
	return added
}

// Add counts an object in a state. served reports whether Firesteel serves it already.
func (k *KindCounts) Add(state string, served bool) {
	const others, maxState = "others", 64
	state = text.Clip(state, maxState)
	if _, known := k.States[state]; !known && len(k.States) >= maxStates {
		state = others
	}
	k.Count++
	k.States[state]++
	if served {
		k.Firesteel++
	}
}

var (
	indexes = regexp.MustCompile(`\[\d+\]`)
	// values matches what differs between texts that need the same remedy: quoted values and numbers.
	values = regexp.MustCompile(`"[^"]*"|\b\d[\w.]*`)
)

// AddFindings adds the findings about an object. name is its namespace and name. If the object has ended, it never runs again: then no finding
// blocks the move.
func (r *Report) AddFindings(kind, name string, ended bool, list finding.List) {
	for i := range list {
		f := &list[i]
		severity := Differs
		if f.Severity == finding.Error && !ended {
			severity = Blocks
		}
		message := f.Error()
		if f.Severity == finding.Error && ended {
			message += " (it has ended, and never runs again)"
		}
		r.Add(groupKey(f, name), Item{Severity: severity, Area: Objects, Kind: kind, Field: f.Field, Message: message}, name)
	}
}

// groupKey returns the same key for findings that need the same remedy. It leaves out values, and the indexes of lists.
func groupKey(f *finding.Finding, name string) string {
	_, own, _ := strings.Cut(name, "/")
	parts := []string{f.Reason, indexes.ReplaceAllString(f.Field, "[]"), f.Property}
	for _, part := range []string{f.Message, f.Text, f.Remedy} {
		parts = append(parts, values.ReplaceAllString(strings.ReplaceAll(text.Clip(part, maxText), own, ""), "0"))
	}
	return strings.Join(parts, "\x00")
}
