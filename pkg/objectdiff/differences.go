package objectdiff

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Difference is a field that has different values in two objects. If an object does not have the field, its value is nil.
type Difference struct {
	// Field is its path, such as spec.containers[spark-kubernetes-driver].env[STAGE].value.
	Field string
	A, B  any
}

// Differences returns how two objects differ, in the order of the fields. Items of a list are compared by name, or by another field that
// distinguishes them: their order does not count. A list without such a field is compared as a whole.
func Differences(a, b Object) []Difference {
	var found []Difference
	compare("", "", a, b, &found)
	return found
}

// compare adds the differences of two values at a path. key is the last field of the path.
func compare(path, key string, a, b any, found *[]Difference) {
	if reflect.DeepEqual(a, b) {
		return
	}
	x, ofA := fieldsOf(key, a)
	y, ofB := fieldsOf(key, b)
	if (ofA || a == nil && byEntry(key)) && (ofB || b == nil && byEntry(key)) {
		names := slices.Concat(slices.Collect(maps.Keys(x)), slices.Collect(maps.Keys(y)))
		slices.Sort(names)
		for _, name := range slices.Compact(names) {
			compare(fieldPath(path, key, name, a, b), childKey(name, a, b), x[name], y[name], found)
		}
		return
	}
	*found = append(*found, Difference{path, a, b})
}

// byEntry reports whether each entry of a map or a list is a difference by itself if one of the objects does not have the field.
func byEntry(key string) bool {
	return slices.Contains(userMaps, key) || slices.Contains([]string{"env", "volumes", "volumeMounts", "tolerations", "initContainers"}, key)
}

// fieldsOf returns the fields of an object, or the items of a list by their distinguishing names.
func fieldsOf(key string, value any) (map[string]any, bool) {
	switch value := value.(type) {
	case Object:
		return value, true
	case []any:
		items, alike := map[string]any{}, map[string]int{}
		for _, item := range value {
			name := itemName(key, item)
			if name == "" {
				return nil, false
			}
			if alike[name]++; alike[name] > 1 {
				name = fmt.Sprintf("%s#%d", name, alike[name])
			}
			items[name] = item
		}
		return items, true
	default:
		return nil, false
	}
}

// itemName returns the name that distinguishes an item of a list from the others; empty if there is none.
func itemName(key string, item any) string {
	if key == "tolerations" { // several may have the same key
		text, err := json.Marshal(item)
		if err != nil {
			return ""
		}
		return string(text)
	}
	_, value, _ := strings.Cut(identity(item), "=")
	return value
}

func isList(values ...any) bool {
	return slices.ContainsFunc(values, func(value any) bool {
		_, list := value.([]any)
		return list
	})
}

// fieldPath returns the path of an entry.
func fieldPath(path, key, name string, a, b any) string {
	switch {
	case isList(a, b) || slices.Contains(userMaps, key):
		return path + "[" + name + "]"
	case path == "":
		return name
	default:
		return path + "." + name
	}
}

// childKey returns the key of an entry. An item of a list has none.
func childKey(name string, a, b any) string {
	if isList(a, b) {
		return ""
	}
	return name
}
