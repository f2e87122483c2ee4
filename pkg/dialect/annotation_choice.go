package dialect

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/finding"
)

// choice is a choice of one of two words by an annotation of an application.
type choice struct {
	annotation string
	// standard is the choice of an operator without settings; other is the other one.
	standard, other string
}

// parse reads one of the two words.
func (c choice) parse(text string) (other, ok bool) {
	text = strings.TrimSpace(text)
	return text == c.other, text == c.other || text == c.standard
}

// of returns the choice for an application. Its annotation wins over the operator's setting.
func (c choice) of(app metav1.Object, setting bool) (other bool) {
	if other, ok := c.parse(app.GetAnnotations()[c.annotation]); ok {
		return other
	}
	return setting
}

// warnings warns of a value of the annotation that has no effect.
func (c choice) warnings(app metav1.Object) finding.List {
	var found finding.List
	value, set := app.GetAnnotations()[c.annotation]
	if _, ok := c.parse(value); set && !ok {
		found.Warn(finding.Entry("metadata.annotations", c.annotation), clippedValue(value),
			fmt.Sprintf("has no effect, it is neither %s nor %s", c.standard, c.other), "write one of them, or leave it out")
	}
	return found
}
