package schema

import (
	"slices"
	"strconv"
	"strings"

	"github.com/firesteel-dev/firesteel/pkg/diagnosis"
	"github.com/firesteel-dev/firesteel/pkg/finding"
)

// merged returns the findings of Firesteel's checks and of the schema, each mistake once. The finding of the checks is kept, but for
// values that they cannot decode, those whose form only the schema knows, and unknown fields, which kubectl refuses.
func merged(list, bySchema finding.List) finding.List {
	refusesValue := func(f finding.Finding) bool {
		return f.Reason == finding.ReasonType || f.Reason == ReasonValue && f.Message != finding.Missing
	}
	if slices.ContainsFunc(bySchema, refusesValue) {
		list = slices.DeleteFunc(list, isUndecodable)
	}
	var added finding.List
	for _, f := range bySchema {
		same := slices.IndexFunc(list, func(other finding.Finding) bool { return other.Field == f.Field && f.Field != "" })
		named := func(other finding.Finding) bool {
			return other.Field == "" && f.Field != "" && !isUndecodable(other) && strings.Contains(other.Text, f.Field)
		}
		switch {
		case same >= 0 && f.Message == finding.Missing && list[same].Message != finding.Missing:
			list[same] = f
		case same >= 0 && f.Reason == ReasonValue && list[same].Reason == finding.ReasonType: // the schema knows the form
			list[same] = f
		case same >= 0 && f.IsUnknownField():
			if f.Meant == "" {
				f.Meant, f.Remedy = list[same].Meant, list[same].Remedy
			}
			list[same] = f
		case same < 0 && !slices.ContainsFunc(list, named):
			added = append(added, f)
		}
	}
	return append(list, added...)
}

func isUndecodable(f finding.Finding) bool { return f.Reason == diagnosis.ReasonUndecodable }

// withoutConsequences returns findings without those that follow from others. An unknown field becomes an error if an error follows from it.
func withoutConsequences(list finding.List, object map[string]any) finding.List {
	has := func(path string) bool { return hasField(object, path) }
	kept := slices.Clone(list)
	for i := range list {
		cause := list[i]
		kept = slices.DeleteFunc(kept, func(f finding.Finding) bool {
			if !follows(f, cause, has) {
				return false
			}
			if f.Severity == finding.Error && cause.IsUnknownField() {
				at := slices.IndexFunc(kept, func(other finding.Finding) bool { return other.Field == cause.Field && other.IsUnknownField() })
				if at >= 0 { // otherwise the cause follows from another one, and was removed
					kept[at].Severity = finding.Error
				}
			}
			return true
		})
	}
	return kept
}

// follows reports whether a finding is a consequence of another: it would not exist without the mistake of the other.
func follows(f, cause finding.Finding, has func(path string) bool) bool {
	switch {
	case cause.Reason == finding.ReasonType:
		return f.Field != cause.Field && f.Field != "" && about(f, cause.Field)
	case f.IsUnknownField():
		return false
	case cause.IsUnknownField() && strings.Contains(f.Remedy, finding.QuotedUnknown(cause.Field)):
		return true
	case cause.IsUnknownField() && cause.Meant != "" && !has(cause.Meant):
		return about(f, cause.Meant)
	case cause.IsUnknownField():
		name := f.Field[strings.LastIndex(f.Field, ".")+1:]
		return (f.Message == finding.Missing || f.Value == "") && !has(f.Field) && has(cause.Field+"."+name)
	case cause.Message == finding.Missing && cause.Field != "":
		return f.Field != cause.Field && (about(f, cause.Field) || strings.Contains(f.Remedy, "set "+cause.Field))
	case cause.Field == "metadata.name" && cause.Severity == finding.Error:
		return strings.HasPrefix(f.Field, "metadata[") // names of other objects are made of it
	default:
		return cause.Field != "" && f.Field != cause.Field && f.Text != "" && strings.HasSuffix(f.Error(), cause.Error())
	}
}

// about reports whether a finding is about a field, or about a field below it.
func about(f finding.Finding, field string) bool {
	if f.Field == "" {
		return strings.Contains(f.Text, field)
	}
	rest, found := strings.CutPrefix(f.Field, field)
	return found && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// hasField reports whether a value has the field of a path such as spec.roles[0].name.
func hasField(value any, path string) bool {
	for path != "" {
		end := strings.IndexAny(path, ".[")
		name, rest := path[:max(end, 0)], path[max(end, 0):]
		switch {
		case end < 0:
			name, rest = path, ""
		case end > 0:
			rest = strings.TrimPrefix(rest, ".")
		case path[0] == '[':
			name, rest, _ = strings.Cut(path[1:], "]")
			rest = strings.TrimPrefix(rest, ".")
		default:
			return false
		}
		var found bool
		if value, found = entry(value, name); !found {
			return false
		}
		path = rest
	}
	return true
}

// entry returns an entry of an object or of a list.
func entry(value any, name string) (any, bool) {
	switch value := value.(type) {
	case map[string]any:
		child, found := value[name]
		return child, found
	case []any:
		index, err := strconv.Atoi(name)
		if err != nil || index < 0 || index >= len(value) {
			return nil, false
		}
		return value[index], true
	default:
		return nil, false
	}
}
