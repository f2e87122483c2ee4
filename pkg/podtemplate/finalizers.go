package podtemplate

import (
	"strings"

	"github.com/firesteel-dev/firesteel/internal/text"
	"github.com/firesteel-dev/firesteel/pkg/finding"
)

// FinalizersDropped warns that the finalizers of a template are dropped. A Pod with finalizers would keep
// its name, and its claims, until a user removes them.
func FinalizersDropped(field string, finalizers []string) finding.List {
	if len(finalizers) == 0 {
		return nil
	}
	shown := strings.Join(finalizers[:min(len(finalizers), maxDropped)], ", ")
	return finding.List{{
		Severity: finding.Warning, Field: field, Value: text.Clip(shown, maxField),
		Message: "has no effect, since what is made of it would keep its name after its end", Remedy: "leave it out",
	}}
}
