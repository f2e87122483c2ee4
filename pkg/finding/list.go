package finding

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

const (
	// Max is how many findings of each severity a list takes. No user reads more, and a condition holds fewer.
	Max = 64
	// maxPrinted and maxText are how many findings one text has, and how many bytes. The first finding is printed anyway.
	maxPrinted, maxText = 10, 1024
)

// List are findings about one manifest.
type List []Finding

// Add adds findings. Those beyond Max are dropped.
func (l *List) Add(findings ...Finding) {
	for _, f := range findings {
		if l.count(f.Severity) < Max {
			*l = append(*l, f)
		}
	}
}

func (l *List) count(severity Severity) int {
	count := 0
	for i := range *l {
		if (*l)[i].Severity == severity {
			count++
		}
	}
	return count
}

// Of returns the findings of a severity.
func (l List) Of(severity Severity) List {
	return slices.DeleteFunc(slices.Clone(l), func(f Finding) bool { return f.Severity != severity })
}

// Refuse adds a finding for which the object is refused.
func (l *List) Refuse(field string, value any, message, remedy string) {
	l.Add(Finding{Severity: Error, Field: field, Value: value, Message: message, Remedy: remedy})
}

// Warn adds a finding despite which the object runs.
func (l *List) Warn(field string, value any, message, remedy string) {
	l.Add(Finding{Severity: Warning, Field: field, Value: value, Message: message, Remedy: remedy})
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

// String prints the findings in one text of bounded length, each once: two fields of a plan may be one of the spec.
func (l List) String() string {
	var printed strings.Builder
	known := map[string]bool{}
	for i, f := range l {
		text, rest := f.Error(), fmt.Sprintf("; and there are up to %d more such problems", len(l)-i)
		switch {
		case known[text]:
			continue
		case len(known) == 0:
		case len(known) == maxPrinted, printed.Len()+len("; ")+len(text)+len(rest) > maxText:
			printed.WriteString(rest)
			return printed.String()
		default:
			printed.WriteString("; ")
		}
		known[text] = true
		printed.WriteString(text)
	}
	return printed.String()
}

// Sentence prints the findings as String does, as a sentence.
func (l List) Sentence() string { return sentence(l.String()) }

// Beside returns the findings without those about the fields of others.
func (l List) Beside(others List) List {
	return slices.DeleteFunc(slices.Clone(l), func(f Finding) bool {
		return f.Field != "" && slices.ContainsFunc(others, func(other Finding) bool { return other.Field == f.Field })
	})
}

// Once returns each finding about a value once: a field that sets several properties may have the same fault in each.
func (l List) Once() List {
	var once List
	for _, f := range l {
		same := slices.IndexFunc(once, func(other Finding) bool {
			other.Property, other.Reason = f.Property, f.Reason
			return f.Field != "" && other.Error() == f.Error() && other.Severity == f.Severity
		})
		switch {
		case same < 0:
			once = append(once, f)
		case once[same].Property != f.Property:
			once[same].Property = ""
		}
	}
	return once
}

// IndependentOf returns the findings that do not follow from others: they are not about the same fields or about what is below them, and do not name
// them.
func (l List) IndependentOf(others List) List {
	return slices.DeleteFunc(l.Beside(others), func(f Finding) bool {
		return slices.ContainsFunc(others, func(other Finding) bool {
			return other.Field != "" && isBelow(f.Field, other.Field) || f.names(other.Field) || f.names(other.Property)
		})
	})
}

// isBelow reports whether a path is that of a field or an entry below another one.
func isBelow(path, parent string) bool {
	rest, found := strings.CutPrefix(path, parent)
	return found && rest != "" && (rest[0] == '.' || rest[0] == '[')
}

// names reports whether the text of a finding has the path of a field.
func (f *Finding) names(field string) bool {
	if field == "" {
		return false
	}
	for _, part := range []string{f.Text, f.Message, f.Remedy} {
		for rest := part; ; {
			_, after, found := strings.Cut(rest, field)
			if !found {
				break
			}
			if after == "" || !isOfPath(after[0]) || after[0] == '.' && (len(after) == 1 || after[1] == ' ') {
				return true
			}
			rest = after
		}
	}
	return false
}

// isOfPath reports whether a path of a field can go on with a character.
func isOfPath(letter byte) bool {
	return letter >= 'a' && letter <= 'z' || letter >= 'A' && letter <= 'Z' || letter >= '0' && letter <= '9' || letter == '.' || letter == '[' || letter == '_' || letter == '-'
}

// Sentences prints each finding as a sentence.
func (l List) Sentences() []string {
	var sentences []string
	for _, f := range l {
		sentences = append(sentences, f.Sentence())
	}
	return sentences
}
