package spec

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// The versions of the encoding that is hashed.
const (
	// HashVersion is the version that is written. Raise it with any change of the encoding, or of the fields that a dialect
	// has hashed, and keep the function of the version before for one release.
	HashVersion = 2
	// HashVersionJSON is the JSON of the Go types, of records that name no version. Libraries change it.
	HashVersionJSON = 1
)

// Hash is the hash of a value by the current version of the encoding: JSON with sorted names, of those fields that say
// something. A field says nothing if it is null or absent, or if its type has no pointer and it is empty, zero or false. So
// the hash stays the same if a type gets a field, or if a library begins or ceases to write empty ones.
func Hash(value any) (string, error) {
	encoded, err := Encode(value)
	return digest(encoded), err
}

// Encode is the encoding of a value that Hash is of.
func Encode(value any) ([]byte, error) {
	encoded, _, err := appendCanonical(nil, reflect.ValueOf(value), true)
	if err != nil {
		return nil, fmt.Errorf("encode %T: %w", value, err)
	}
	return encoded, nil
}

// HashJSON is the hash of a value by HashVersionJSON.
func HashJSON(value any) (string, error) {
	encoded, err := json.Marshal(value)
	if err != nil {
		return "", fmt.Errorf("encode %T: %w", value, err)
	}
	return digest(encoded), nil
}

func digest(encoded []byte) string {
	sum := sha256.Sum256(encoded)
	return hex.EncodeToString(sum[:8])
}

// member is a field of an object.
type member struct {
	name  string
	value reflect.Value
	// explicit says that the value has its place even if it says nothing.
	explicit bool
}

// appendCanonical appends the encoding of a value to text. It reports false if the value says nothing; an explicit one always
// says something. Each byte is written once, however deep the value is: a user's lists may be thousands of lists deep.
func appendCanonical(text []byte, v reflect.Value, explicit bool) (encoded []byte, ok bool, err error) {
	if !v.IsValid() {
		return append(text, "null"...), false, nil
	}
	if marshaler, ok := marshalerOf(v); ok {
		if !explicit && v.IsZero() {
			return text, false, nil
		}
		return appendByItself(text, marshaler)
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return append(text, "null"...), false, nil
		}
		return appendCanonical(text, v.Elem(), true)
	case reflect.Struct:
		text, some, err := appendObject(text, fieldsOf(v, nil))
		return text, explicit || some, err
	case reflect.Map:
		text, some, err := appendObject(text, entriesOf(v))
		return text, explicit || some, err
	case reflect.Slice, reflect.Array:
		text, err := appendList(text, v)
		return text, explicit || v.Len() > 0, err
	default:
		encoded, err := json.Marshal(v.Interface())
		return append(text, encoded...), explicit || !v.IsZero(), err
	}
}

// marshalerOf is a value that encodes itself. Pointers are followed first.
func marshalerOf(v reflect.Value) (json.Marshaler, bool) {
	if v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		return nil, false
	}
	if marshaler, ok := v.Interface().(json.Marshaler); ok {
		return marshaler, true
	}
	if !reflect.PointerTo(v.Type()).Implements(reflect.TypeFor[json.Marshaler]()) {
		return nil, false
	}
	pointer := reflect.New(v.Type())
	pointer.Elem().Set(v)
	return pointer.Interface().(json.Marshaler), true
}

// appendByItself appends what a value makes of itself, with sorted names.
func appendByItself(text []byte, marshaler json.Marshaler) ([]byte, bool, error) {
	own, err := marshaler.MarshalJSON()
	if err != nil {
		return nil, false, err
	}
	var value any
	decoder := json.NewDecoder(bytes.NewReader(own))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		return nil, false, err
	}
	return appendCanonical(text, reflect.ValueOf(value), true)
}

// fieldsOf are the fields of a struct that are set, and those of the structs within that have no name of their own.
func fieldsOf(v reflect.Value, members []member) []member {
	for i := range v.NumField() {
		field := v.Type().Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "-" || !field.IsExported() && !field.Anonymous {
			continue
		}
		within := v.Field(i)
		if name == "" && (field.Anonymous || strings.Contains(options, "inline")) {
			if within.Kind() == reflect.Pointer {
				within = within.Elem()
			}
			if within.Kind() == reflect.Struct {
				members = fieldsOf(within, members)
			}
			continue
		}
		if !within.IsZero() {
			members = append(members, member{name: cmp.Or(name, field.Name), value: within})
		}
	}
	return members
}

// entriesOf returns the entries of a map. All but null count, since a user wrote their names.
func entriesOf(v reflect.Value) []member {
	members := make([]member, 0, v.Len())
	for key, value := range v.Seq2() {
		members = append(members, member{name: fmt.Sprint(key), value: value, explicit: true})
	}
	return members
}

// appendList appends a list in its order. An entry that is null has its place.
func appendList(text []byte, v reflect.Value) ([]byte, error) {
	if bytes, ok := v.Interface().([]byte); ok {
		encoded, err := json.Marshal(bytes)
		return append(text, encoded...), err
	}
	text = append(text, '[')
	for i := range v.Len() {
		if i > 0 {
			text = append(text, ',')
		}
		var err error
		if text, _, err = appendCanonical(text, v.Index(i), true); err != nil {
			return nil, fmt.Errorf("%d: %w", i, err)
		}
	}
	return append(text, ']'), nil
}

// appendObject appends those members that say something, by their names, and reports whether there is one. Of two with a name
// the outer one counts, which comes first.
func appendObject(text []byte, members []member) ([]byte, bool, error) {
	slices.SortStableFunc(members, func(a, b member) int { return cmp.Compare(a.name, b.name) })
	text = append(text, '{')
	some, last := false, ""
	for _, m := range members {
		if some && m.name == last {
			continue
		}
		before := len(text)
		if some {
			text = append(text, ',')
		}
		quoted, _ := json.Marshal(m.name) // a string
		text = append(append(text, quoted...), ':')
		var ok bool
		var err error
		if text, ok, err = appendCanonical(text, m.value, m.explicit); err != nil {
			return nil, false, fmt.Errorf("%s: %w", m.name, err)
		}
		if !ok {
			text = text[:before]
			continue
		}
		some, last = true, m.name
	}
	return append(text, '}'), some, nil
}
