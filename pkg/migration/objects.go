package migration

import (
	"regexp"
	"strings"

	"github.com/firesteel-dev/firesteel/internal/text"
	"github.com/firesteel-dev/firesteel/pkg/finding"
)

// Counted returns the counts of a kind, which it adds if they are not there.
func (r *Report) Counted(kind string) *Kind {
	for _, known := range r.Kinds {
		if known.Kind == kind {
			return known
		}
	}
	added := &Kind{Kind: kind, States: map[string]int{}}
	r.Kinds = append(r.Kinds, added)
	return added
}

// Add counts an object in a state. served reports whether Firesteel serves it already.
func (k *Kind) Add(state string, served bool) {
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
	// values are what differs in texts about alike objects: quoted values and numbers.
	values = regexp.MustCompile(`"[^"]*"|\b\d[\w.]*`)
)

// Found adds what was found about an object. name is its namespace and name. What ended never runs again, so nothing of it stands in the way.
func (r *Report) Found(kind, name string, ended bool, list finding.List) {
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
		r.Add(alike(f, name), Item{Severity: severity, Area: Objects, Kind: kind, Field: f.Field, Message: message}, name)
	}
}

// alike returns what findings have in common that need the same remedy: all but the values, and the numbers of items.
func alike(f *finding.Finding, name string) string {
	_, own, _ := strings.Cut(name, "/")
	parts := []string{f.Reason, indexes.ReplaceAllString(f.Field, "[]"), f.Property}
	for _, part := range []string{f.Message, f.Text, f.Remedy} {
		parts = append(parts, values.ReplaceAllString(strings.ReplaceAll(text.Clip(part, maxText), own, ""), "0"))
	}
	return strings.Join(parts, "\x00")
}
