package pages

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/firesteel-dev/firesteel/internal/text"
)

const (
	// maxComparedFields bounds the fields that are shown, and maxFieldValue each of their values, in bytes.
	maxComparedFields, maxFieldValue = 200, 512
	// maxFields bounds the fields of a spec that are compared.
	maxFields = 10_000
)

// fieldsOf returns the fields of the spec of an object, such as sparkConf[spark.executor.memory], without the values of secrets.
func fieldsOf(object *unstructured.Unstructured) map[string]string {
	fields := map[string]string{}
	addFields(fields, "", redacted(object)["spec"])
	return fields
}

// plainKey are the keys of an API. Others, such as those of Spark, are written in brackets.
var plainKey = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*$`)

// addFields adds a value, or all that it contains.
func addFields(fields map[string]string, path string, value any) {
	if len(fields) >= maxFields {
		return
	}
	switch value := value.(type) {
	case nil:
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			below := path + "[" + key + "]"
			if plainKey.MatchString(key) {
				below = path + "." + key
			}
			if path == "" {
				below = key
			}
			addFields(fields, below, value[key])
		}
	case []any:
		for i, item := range value {
			addFields(fields, path+"["+strconv.Itoa(i)+"]", item)
		}
	case float64: // a number that was read without its type
		fields[path] = strconv.FormatFloat(value, 'f', -1, 64)
	default:
		fields[path] = fmt.Sprint(value)
	}
}

// comparedFields returns the fields that differ, by their names, and how many do not.
func comparedFields(a, b map[string]string) (rows []compareRow, same int) {
	all := maps.Clone(a)
	maps.Copy(all, b)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if a[name] == b[name] && has(a, name) == has(b, name) {
			same++
			continue
		}
		rows = append(rows, compareRow{Name: text.Clip(name, maxFieldValue), A: valueOf(a, name), B: valueOf(b, name), Differs: true})
	}
	return rows, same
}

func has(fields map[string]string, name string) bool {
	_, ok := fields[name]
	return ok
}

// valueOf returns the value of a field in words.
func valueOf(fields map[string]string, name string) string {
	switch value, ok := fields[name]; {
	case !ok:
		return "not set"
	case value == "":
		return "(empty)"
	default:
		return text.Clip(value, maxFieldValue)
	}
}
