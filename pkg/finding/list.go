package finding

import (
	"errors"
	"fmt"
	"strings"
)

const (
	// MaxWarnings is how many warnings a list takes. Nobody reads more, and a condition holds fewer.
	MaxWarnings = 64
	// maxPrinted is how many findings one text has.
	maxPrinted = 32
)

// List are findings about one manifest.
type List []Finding

// Add adds findings. Warnings beyond MaxWarnings are dropped.
func (l *List) Add(findings ...Finding) {
	for _, f := range findings {
		if f.Severity != Warning || len(*l) < MaxWarnings {
			*l = append(*l, f)
		}
	}
}

// Refuse adds a finding for which the object is refused.
func (l *List) Refuse(field string, value any, message, remedy string) {
	l.Add(Finding{Severity: Error, Field: field, Value: value, Message: message, Remedy: remedy})
}

// Warn adds a finding despite which the object runs.
func (l *List) Warn(field string, value any, message, remedy string) {
	l.Add(Finding{Severity: Warning, Field: field, Value: value, Message: message, Remedy: remedy})
}

// WarnOfUnknown adds findings about fields that the decoder does not know, as it reports them.
func (l *List) WarnOfUnknown(reports []string) {
	for _, report := range reports {
		l.Add(Finding{Severity: Warning, Field: unknownField(report), Text: report + " is dropped", Remedy: "correct its spelling"})
	}
}

// unknownField is the field of a decoder's report such as: unknown field "spec.drivers".
func unknownField(report string) string {
	if _, quoted, found := strings.Cut(report, `"`); found {
		return strings.TrimSuffix(quoted, `"`)
	}
	return report
}

// Err returns the findings as joined errors; nil if there are none.
func (l List) Err() error {
	var errs []error
	for _, f := range l {
		errs = append(errs, &f)
	}
	return errors.Join(errs...)
}

// Of returns what was joined to an error. An error that is no finding becomes one without a field.
func Of(err error) List {
	var f *Finding
	var joined interface{ Unwrap() []error }
	switch {
	case err == nil:
		return nil
	case errors.As(err, &joined):
		var list List
		for _, part := range joined.Unwrap() {
			list = append(list, Of(part)...)
		}
		return list
	case errors.As(err, &f):
		return List{*f}
	default:
		return List{{Text: err.Error()}}
	}
}

// String prints the findings in one text, each once: two fields of a plan may be one of the spec.
func (l List) String() string {
	var texts []string
	known := map[string]bool{}
	for i, f := range l {
		if len(texts) == maxPrinted {
			texts = append(texts, fmt.Sprintf("and there are up to %d more such problems", len(l)-i))
			break
		}
		if text := f.Error(); !known[text] {
			known[text] = true
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "; ")
}

// Sentences prints each finding as a sentence.
func (l List) Sentences() []string {
	var sentences []string
	for _, f := range l {
		sentences = append(sentences, f.Sentence())
	}
	return sentences
}
