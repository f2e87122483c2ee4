package podtemplate

import (
	"fmt"
	"strings"
)

// FinalizersDropped says that the finalizers of a template are dropped, which a field holds; empty if there are none. A Pod
// that had them would keep its name, and its claims, until somebody removes them.
func FinalizersDropped(field string, finalizers []string) string {
	if len(finalizers) == 0 {
		return ""
	}
	shown := strings.Join(finalizers[:min(len(finalizers), maxDropped)], ", ")
	return fmt.Sprintf("%s %.*q has no effect, since what is made of it would keep its name after its end: leave it out", field, maxField, shown)
}
