package dialect

import (
	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

// Refused returns why a spec can never run. It has the reason of the first finding, and names all. It returns nil if there is none.
func Refused(found finding.List) *lifecycle.Cause {
	if len(found) == 0 {
		return nil
	}
	return &lifecycle.Cause{Class: lifecycle.ClassApplication, Reason: found[0].Reason, Message: found.Sentence()}
}
