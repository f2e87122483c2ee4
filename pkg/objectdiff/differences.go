package objectdiff

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Difference is a field in which two objects differ. The value of an object that does not have the field is nil.
type Difference struct {
	// Field is its path, such as spec.containers[spark-kubernetes-driver].env[STAGE].value.
	Field string
	A, B  any
}

// Differences returns how two objects differ, in the order of the fields. The items of a list are compared by what distinguishes them, such as
// their names, so that their order does not count. A list whose items nothing distinguishes is compared as a whole.
func Differences(a, b Object) []Difference {
	var found []Difference
	differ("", "", a, b, &found)
	return found
}

func differ(path, key string, a, b any, found *[]Difference) {
	if reflect.DeepEqual(a, b) {
		return
	}
	x, ofA := fieldsOf(key, a)
	y, ofB := fieldsOf(key, b)
	if (ofA || a == nil && freeForm(key)) && (ofB || b == nil && freeForm(key)) {
		names := slices.Concat(slices.Collect(maps.Keys(x)), slices.Collect(maps.Keys(y)))
		slices.Sort(names)
		for _, name := range slices.Compact(names) {
			differ(joined(path, key, name, a, b), childKey(name, a, b), x[name], y[name], found)
		}
		return
	}
	*found = append(*found, Difference{path, a, b})
}

// freeForm reports whether users choose the keys of a map, so that each of its entries is a difference by itself. So are the items of some lists.
func freeForm(key string) bool {
	return slices.Contains(ofUsers, key) || slices.Contains([]string{"env", "volumes", "volumeMounts", "tolerations", "initContainers"}, key)
}

// fieldsOf returns the fields of an object, or the items of a list by what distinguishes them.
func fieldsOf(key string, value any) (map[string]any, bool) {
	switch value := value.(type) {
	case Object:
		return value, true
	case []any:
		items, alike := map[string]any{}, map[string]int{}
		for _, item := range value {
			name := distinguished(key, item)
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

// distinguished returns what distinguishes an item of a list from the others; empty if nothing does.
func distinguished(key string, item any) string {
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

func joined(path, key, name string, a, b any) string {
	switch {
	case isList(a, b) || slices.Contains(ofUsers, key):
		return path + "[" + name + "]"
	case path == "":
		return name
	default:
		return path + "." + name
	}
}

// childKey returns the key of a value for what is below it. An item of a list has none.
func childKey(name string, a, b any) string {
	if isList(a, b) {
		return ""
	}
	return name
}
