package codec

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/firesteel-dev/firesteel/internal/text"
	"github.com/firesteel-dev/firesteel/pkg/finding"
)

// maxWrongTypes bounds the values of wrong types that are reported of one object.
const maxWrongTypes = 10

// WrongTypes returns a finding about each value of an object in JSON that cannot become the field of its type, at most 10. No finding has the
// value itself. within are the types of fields that the type leaves open, by their paths.
//
// It is slower than decoding, and is meant for objects that cannot be decoded.
func WrongTypes(data []byte, t reflect.Type, within map[string]reflect.Type) finding.List {
	values := json.NewDecoder(bytes.NewReader(data))
	values.UseNumber()
	var object map[string]any
	if values.Decode(&object) != nil {
		return nil
	}
	w := &wrongTypes{within: within}
	w.fields(object, t, "")
	return w.found
}

// wrongTypes walks through a value and the type that it is to become.
type wrongTypes struct {
	found  finding.List
	within map[string]reflect.Type
}

func (w *wrongTypes) refuse(path, message, remedy string) {
	w.found.Add(finding.Finding{Severity: finding.Error, Reason: finding.ReasonType, Field: path, Message: message, Remedy: remedy})
}

// value checks a value. A decoder leaves the field of a null as it is.
func (w *wrongTypes) value(given any, t reflect.Type, path string) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if open, ok := w.within[path]; ok {
		t = open
	}
	if given == nil || len(w.found) >= maxWrongTypes {
		return
	}
	if reflect.PointerTo(t).Implements(unmarshaler) {
		w.own(given, t, path)
		return
	}
	w.plain(given, t, path)
}

// plain checks a value of a type that has no decoder of its own.
func (w *wrongTypes) plain(given any, t reflect.Type, path string) {
	object, isObject := given.(map[string]any)
	list, isList := given.([]any)
	switch kind := kindOf(t); {
	case kind == "":
	case kind == anObject && isObject:
		w.fields(object, t, path)
	case kind == aList && isList:
		for i, entry := range list {
			w.value(entry, t.Elem(), fmt.Sprintf("%s[%d]", path, i))
		}
	default:
		w.scalar(given, t, path)
	}
}

// fields checks the fields of a struct, or the entries of a map. Fields that the type does not have are no matter of types.
func (w *wrongTypes) fields(object map[string]any, t reflect.Type, path string) {
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if below, nested := object[name].(map[string]any); nested && len(w.found) < maxWrongTypes && t.Kind() == reflect.Map && kindOf(t.Elem()) == aText {
			w.refuse(finding.Entry(path, name), "is an object and not a text", "write each name in full, such as "+fullName(name, below))
		} else if t.Kind() == reflect.Map {
			w.value(object[name], t.Elem(), finding.Entry(path, name))
		} else if field, known := fieldsOf(t)[name]; known {
			w.value(object[name], field, strings.TrimPrefix(path+"."+name, "."))
		}
	}
}

// maxName bounds a name in a remedy.
const maxName = 128

// fullName returns the name of the first value of nested objects, such as spark.executor.instances.
func fullName(name string, object map[string]any) string {
	for len(object) > 0 && len(name) < maxName {
		first := slices.Min(slices.Collect(maps.Keys(object)))
		name += "." + first
		object, _ = object[first].(map[string]any)
	}
	return text.Clip(name, maxName)
}

var quantityType = reflect.TypeFor[resource.Quantity]()

// own checks a value of a type that has a decoder of its own. One with fields, or with entries, decodes them as others do.
func (w *wrongTypes) own(given any, t reflect.Type, path string) {
	if t == quantityType {
		if kind := kindOfValue(given); kind != aText && kind != aNumber {
			w.refuse(path, "is "+kind+" and not a quantity", "write one such as 500m, 2, 1.5 or 10Gi")
		}
		return // package quantity checks it within bounds
	}
	if decodes(given, t) {
		return
	}
	before := len(w.found)
	if object, ok := given.(map[string]any); ok {
		switch t.Kind() {
		case reflect.Struct:
			w.fields(object, t, path)
		case reflect.Map:
			w.entries(object, t, path)
		}
	}
	if len(w.found) == before {
		w.refuse(path, "is "+kindOfValue(given)+" that the field does not take", "write the value in the form that the documentation of the field has")
	}
}

// entries checks each entry of a map that has a decoder of its own.
func (w *wrongTypes) entries(object map[string]any, t reflect.Type, path string) {
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if len(w.found) < maxWrongTypes && !decodes(map[string]any{name: object[name]}, t) {
			w.refuse(finding.Entry(path, name), "is "+kindOfValue(object[name])+" and not "+aText, "write a text")
		}
	}
}

func decodes(given any, t reflect.Type) bool {
	encoded, err := json.Marshal(given)
	return err == nil && json.Unmarshal(encoded, reflect.New(t).Interface()) == nil
}

// The kinds of values, as messages name them.
const (
	aText     = "a text"
	aNumber   = "a number"
	anInteger = "a whole number"
	aBoolean  = "a boolean"
	aList     = "a list"
	anObject  = "an object"
)

// kindOf returns the kind of values that a type takes; empty if it takes any, or if that is not known.
func kindOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return aText
	case reflect.Bool:
		return aBoolean
	case reflect.Float32, reflect.Float64:
		return aNumber
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return ""
		}
		return aList
	case reflect.Struct, reflect.Map:
		return anObject
	default:
		if t.Kind() >= reflect.Int && t.Kind() <= reflect.Uint64 {
			return anInteger
		}
		return ""
	}
}

func kindOfValue(given any) string {
	switch given.(type) {
	case string:
		return aText
	case json.Number:
		return aNumber
	case bool:
		return aBoolean
	case []any:
		return aList
	default:
		return anObject
	}
}

// scalar refuses a value whose kind is not the one that a type takes, and a number that does not fit.
func (w *wrongTypes) scalar(given any, t reflect.Type, path string) {
	wanted, kind := kindOf(t), kindOfValue(given)
	switch {
	case wanted == kind:
	case wanted == anInteger && kind == aNumber:
		w.integer(given.(json.Number), t, path)
	default:
		w.refuse(path, "is "+kind+" and not "+wanted, remedyFor(given, kind, wanted))
	}
}

func (w *wrongTypes) integer(given json.Number, t reflect.Type, path string) {
	number := reflect.New(t).Interface()
	switch {
	case json.Unmarshal([]byte(given), number) == nil:
	case strings.ContainsAny(string(given), ".eE"):
		w.refuse(path, "is no whole number", "write one without a fraction and an exponent")
	default:
		w.refuse(path, "is a number out of bounds", fmt.Sprintf("write one that fits into %d bits", t.Bits()))
	}
}

// remedyFor returns what to write in the place of a value of another kind.
func remedyFor(given any, kind, wanted string) string {
	text, _ := given.(string)
	switch wanted {
	case aText:
		if kind == aNumber || kind == aBoolean {
			return "write it in quotes"
		}
		if kind == aList {
			return "write a text, with commas between the entries if it takes several"
		}
		return "write a text"
	case aBoolean:
		if text == "true" || text == "false" {
			return "write it without quotes"
		}
		return "write true or false"
	case aList:
		return "write each entry in a line of its own that begins with a hyphen, or all in brackets"
	case anObject:
		return "write its fields below it, each with its value"
	default:
		if _, err := strconv.ParseFloat(text, 64); err == nil {
			return "write it without quotes"
		}
		return "write " + wanted
	}
}
