package finding

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// WarnOfUnknown adds findings about fields of an object that its type does not have, as the decoder reports them.
func (l *List) WarnOfUnknown(reports []string, object any) {
	l.AddUnknown(Warning, "is dropped", reports, object)
}

// AddUnknown is WarnOfUnknown with a severity, and with what becomes of the fields.
func (l *List) AddUnknown(severity Severity, effect string, reports []string, object any) {
	for _, report := range reports {
		field := unknownField(report)
		path, name := splitPath(field)
		l.Add(Unknown(severity, field, effect, path, Similar(namesAt(reflect.TypeOf(object), path), name)))
	}
}

// Unknown returns a finding about a field that its kind does not have. effect says what becomes of it. similar is the field that is probably
// meant, below the path of the same parent; it is empty if there is none.
func Unknown(severity Severity, field, effect, parent, similar string) Finding {
	f := Finding{Severity: severity, Field: field, Text: QuotedUnknown(field) + " " + effect, Remedy: "correct its spelling or its place"}
	if similar == "" {
		return f
	}
	f.Meant, f.Remedy = strings.TrimPrefix(parent+"."+similar, "."), "correct its spelling to "+similar
	if strings.Contains(similar, ".") {
		f.Remedy = "move it to " + similar
	}
	return f
}

// QuotedUnknown is how texts name a field that its kind does not have.
func QuotedUnknown(field string) string { return fmt.Sprintf("unknown field %q", field) }

// IsUnknownField reports whether a finding is one of Unknown.
func (f *Finding) IsUnknownField() bool { return strings.HasPrefix(f.Text, "unknown field") }

// unknownField is the field of a decoder's report such as: unknown field "spec.drivers".
func unknownField(report string) string {
	if _, quoted, found := strings.Cut(report, `"`); found {
		return strings.TrimSuffix(quoted, `"`)
	}
	return report
}

// splitPath divides the path of a field into that of its parent and its name.
func splitPath(field string) (parent, name string) {
	at := strings.LastIndex(field, ".")
	return field[:max(at, 0)], field[at+1:]
}

// namesAt returns the names of the fields of the struct at a path, each with those of the fields within it. There are none if it is no struct.
func namesAt(of reflect.Type, path string) map[string][]string {
	for path != "" {
		name, rest, _ := strings.Cut(path, ".")
		name, _, _ = strings.Cut(name, "[")
		of, path = fieldsOf(of)[name], rest
	}
	names := map[string][]string{}
	for name, of := range fieldsOf(of) {
		names[name] = slices.Collect(maps.Keys(fieldsOf(of)))
	}
	return names
}

// fieldsOf returns the fields of a struct, of a pointer to one, or of a list of them, by their names in JSON.
func fieldsOf(of reflect.Type) map[string]reflect.Type {
	for of != nil && (of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice) {
		of = of.Elem()
	}
	if of == nil || of.Kind() != reflect.Struct {
		return nil
	}
	fields := map[string]reflect.Type{}
	for i := range of.NumField() {
		field := of.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case name == "-" || !field.IsExported():
		case name != "":
			fields[name] = field.Type
		case field.Anonymous || options == "inline":
			maps.Copy(fields, fieldsOf(field.Type))
		}
	}
	return fields
}

// Similar returns the field that a misspelled or misplaced name probably means, of fields that are given with the names of the fields within
// them: one that is spelled alike, or else the only one that holds the name or ends as it does. It is empty if there is none.
func Similar(fields map[string][]string, name string) string {
	const longest = 64 // bounds the comparison
	if len(name) > longest {
		return ""
	}
	best, least := "", 0
	var holders, longer []string
	for _, field := range slices.Sorted(maps.Keys(fields)) {
		if distance, similar := difference(letters(field), letters(name)); similar && (best == "" || distance < least) {
			best, least = field, distance
		}
		if endsAlike(letters(field), letters(name)) {
			longer = append(longer, field)
		}
		if slices.Contains(fields[field], name) {
			holders = append(holders, field+"."+name)
		}
	}
	switch {
	case best == "" && len(holders) == 1:
		return holders[0]
	case best == "" && len(longer) == 1:
		return longer[0]
	}
	return best
}

// SimilarName is Similar for names that hold no others.
func SimilarName(names []string, name string) string {
	fields := make(map[string][]string, len(names))
	for _, known := range names {
		fields[known] = nil
	}
	return Similar(fields, name)
}

// endsAlike reports whether one of two names is the end of the other: path for mountPath, or driverMemory for memory.
func endsAlike(a, b string) bool {
	const least = 4
	return min(len(a), len(b)) >= least && (strings.HasSuffix(a, b) || strings.HasSuffix(b, a))
}

// letters returns a name in small letters, without what joins words in other spellings.
func letters(name string) string {
	return strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(name))
}

// difference returns by how many letters two names differ, and whether one is probably meant by the other.
func difference(a, b string) (distance int, similar bool) {
	distance = editDistance(a, b)
	shorter := min(len(a), len(b))
	const few, part, whole = 2, 3, 4
	common := commonPrefix(a, b)
	return distance, distance <= min(few, shorter/2) || common >= whole && common*whole >= shorter*part
}

func commonPrefix(a, b string) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

// editDistance is how many letters are inserted, removed or replaced, or change places with their neighbours, to make one text of another.
func editDistance(a, b string) int {
	earlier, row, next := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		next[0] = i + 1
		for j := range len(b) {
			replaced := row[j]
			if a[i] != b[j] {
				replaced++
			}
			next[j+1] = min(replaced, row[j+1]+1, next[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], earlier[j-1]+1)
			}
		}
		earlier, row, next = row, next, earlier
	}
	return row[len(b)]
}
