// Package move turns the values of another operator's Helm chart into values of Firesteel's.
package move

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"
)

// Values are values of a chart, as decoded from YAML.
type Values = map[string]any

// row maps a value of another chart. Paths have slashes between their keys.
type row struct {
	// theirs is the path of the value in the other chart. It includes all values below it.
	theirs string
	// ours is the path of the value in Firesteel's chart. It is empty if there is none.
	ours string
	// note explains why there is none, or what differs.
	note string
	// convert converts the value. Without it, a value that has a path in Firesteel's chart is copied.
	convert func(*move)
	// always has convert called without a value, too.
	always bool
}

// Chart is another operator's chart.
type Chart struct {
	// Name is the name of the chart in arguments.
	Name  string
	title string
	rows  []row
	// implied holds defaults of that chart that Firesteel's chart does not have. A values file often leaves them out.
	implied Values
}

// Charts are the charts whose values can be converted.
var Charts = []Chart{
	{"kubeflow", "The Kubeflow operator's chart", kubeflow, Values{"spark/jobNamespaces": []any{"default"}}},
	{"apache", "The Apache operator's chart", apache, nil},
}

// move is the conversion of a values file.
type move struct {
	// namespace is that of the other chart's release; empty if it is not known.
	namespace string

	row   row
	in    Values
	value any
	out   Values
	notes []string
	err   error
}

// Convert converts a values file of a release in a namespace. The notes name each value that has no counterpart, or another meaning. It
// fails if the file means the namespace of the release, and that is empty.
func (c Chart) Convert(file []byte, namespace string) (values Values, notes []string, err error) {
	m := &move{namespace: namespace, in: Values{}, out: Values{}}
	if err := yaml.Unmarshal(file, &m.in); err != nil {
		return nil, nil, err
	}
	if m.in == nil { // the file is null, as helm get values prints no values
		m.in = Values{}
	}
	for _, path := range leaves("", m.in) {
		if c.rowOf(path) == nil {
			m.notes = append(m.notes, dotted(path)+": that chart has no such value")
		}
	}
	for path, value := range c.implied {
		if at(m.in, path) == nil {
			assign(m.in, path, value)
		}
	}
	for _, m.row = range c.rows {
		m.value = at(m.in, m.row.theirs)
		switch {
		case m.value == nil && !m.row.always:
		case m.row.convert != nil:
			m.row.convert(m)
		case m.row.ours != "":
			m.set(m.row.ours, m.value)
		case !empty(m.value):
			m.note("%s", m.row.note)
		}
	}
	return m.out, m.notes, m.err
}

func (c Chart) rowOf(path string) *row {
	for i := range c.rows {
		if theirs := c.rows[i].theirs; path == theirs || strings.HasPrefix(path, theirs+"/") {
			return &c.rows[i]
		}
	}
	return nil
}

// Text writes the values of a conversion, and the notes above them.
func Text(values Values, notes []string) ([]byte, error) {
	var out strings.Builder
	for _, note := range notes {
		out.WriteString("# " + note + "\n")
	}
	text, err := yaml.Marshal(values)
	return append([]byte(out.String()), text...), err
}

// note adds a note on the value.
func (m *move) note(format string, arguments ...any) {
	m.notes = append(m.notes, dotted(m.row.theirs)+": "+fmt.Sprintf(format, arguments...))
}

// empty reports whether a value says nothing.
func empty(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case Values:
		return len(v) == 0
	case []any:
		return len(v) == 0
	case string:
		return v == ""
	}
	return false
}

// set sets a value of Firesteel's chart. An empty value is left out.
func (m *move) set(path string, value any) {
	if !empty(value) {
		m.put(path, value)
	}
}

// put sets a value of Firesteel's chart, also an empty one.
func (m *move) put(path string, value any) { assign(m.out, path, value) }

// assign sets a value at a path.
func assign(section Values, path string, value any) {
	keys := strings.Split(path, "/")
	for _, key := range keys[:len(keys)-1] {
		below, ok := section[key].(Values)
		if !ok {
			below = Values{}
			section[key] = below
		}
		section = below
	}
	section[keys[len(keys)-1]] = value
}

// there returns another value of the other chart.
func (m *move) there(path string) any { return at(m.in, path) }

// on reports whether a switch of the other chart is on.
func (m *move) on(path string) bool { return truth(m.there(path)) }

// truth reports whether a value stands for true. A switch may be written as a string.
func truth(value any) bool { return value == true || value == "true" }

// number returns a number, also one that is written as a string. It returns 0 if the value is not a number.
func number(value any) int {
	if text, ok := value.(string); ok {
		n, _ := strconv.Atoi(text)
		return n
	}
	n, _ := value.(float64)
	return int(n)
}

// at returns the value at a path; nil if there is none.
func at(values Values, path string) any {
	var found any = values
	for key := range strings.SplitSeq(path, "/") {
		section, _ := found.(Values)
		found = section[key]
	}
	return found
}

// leaves returns the paths of all values that are not sections.
func leaves(path string, value any) (paths []string) {
	section, ok := value.(Values)
	if path != "" && (!ok || len(section) == 0) {
		return []string{path}
	}
	for _, key := range slices.Sorted(maps.Keys(section)) {
		paths = append(paths, leaves(strings.TrimPrefix(path+"/"+key, "/"), section[key])...)
	}
	return paths
}

func dotted(path string) string { return strings.ReplaceAll(path, "/", ".") }

// These conversions are used by several rows.

// enabled writes a switch as a setting.
func enabled(m *move) {
	m.set(m.row.ours, map[bool]string{true: "enabled", false: "disabled"}[truth(m.value)])
}

// replicas makes all replicas work: it sets two buckets for each.
func replicas(m *move) {
	count := number(m.value)
	m.set(m.row.ours, count)
	if count > 1 {
		m.set("settings/config-leader-election/buckets", min(2*count, 10))
	}
}

// without copies a list, except an element with a name.
func without(name string) func(*move) {
	return func(m *move) {
		list, _ := m.value.([]any)
		m.set(m.row.ours, slices.DeleteFunc(slices.Clone(list), func(element any) bool {
			object, _ := element.(Values)
			return object["name"] == name
		}))
	}
}

// omitting copies an object, except a key with a value.
func omitting(key string, value any) func(*move) {
	return func(m *move) {
		object, ok := m.value.(Values)
		if !ok {
			return
		}
		rest := maps.Clone(object)
		if rest[key] == value {
			delete(rest, key)
		}
		m.set(m.row.ours, rest)
	}
}
