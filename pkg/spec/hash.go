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
	encoded, _, err := canonical(reflect.ValueOf(value), true)
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
	value []byte
}

// canonical encodes a value. It reports false if the value says nothing; an explicit one always says something.
func canonical(v reflect.Value, explicit bool) (encoded []byte, ok bool, err error) {
	if !v.IsValid() {
		return []byte("null"), false, nil
	}
	if marshaler, ok := marshalerOf(v); ok {
		if !explicit && v.IsZero() {
			return nil, false, nil
		}
		return byItself(marshaler)
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return []byte("null"), false, nil
		}
		return canonical(v.Elem(), true)
	case reflect.Struct:
		members, err := fieldsOf(v, nil)
		return object(members), explicit || len(members) > 0, err
	case reflect.Map:
		members, err := entriesOf(v)
		return object(members), explicit || len(members) > 0, err
	case reflect.Slice, reflect.Array:
		encoded, err := list(v)
		return encoded, explicit || v.Len() > 0, err
	default:
		encoded, err := json.Marshal(v.Interface())
		return encoded, explicit || !v.IsZero(), err
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

// byItself is what a value makes of itself, with sorted names.
func byItself(marshaler json.Marshaler) ([]byte, bool, error) {
	text, err := marshaler.MarshalJSON()
	if err != nil {
		return nil, false, err
	}
	var value any
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		return nil, false, err
	}
	return canonical(reflect.ValueOf(value), true)
}

// fieldsOf are the fields of a struct that say something, and those of the structs within that have no name of their own.
func fieldsOf(v reflect.Value, members []member) ([]member, error) {
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
				var err error
				if members, err = fieldsOf(within, members); err != nil {
					return nil, err
				}
			}
			continue
		}
		encoded, ok, err := canonical(within, false)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", field.Name, err)
		}
		if ok {
			members = append(members, member{name: cmp.Or(name, field.Name), value: encoded})
		}
	}
	return members, nil
}

// entriesOf returns the entries of a map. All but null count, since a user wrote their names.
func entriesOf(v reflect.Value) ([]member, error) {
	members := make([]member, 0, v.Len())
	for key, value := range v.Seq2() {
		encoded, ok, err := canonical(value, true)
		if err != nil {
			return nil, fmt.Errorf("%v: %w", key, err)
		}
		if ok {
			members = append(members, member{name: fmt.Sprint(key), value: encoded})
		}
	}
	return members, nil
}

// list encodes a list in its order. An entry that is null has its place.
func list(v reflect.Value) ([]byte, error) {
	if bytes, ok := v.Interface().([]byte); ok {
		return json.Marshal(bytes)
	}
	text := []byte("[")
	for i := range v.Len() {
		encoded, _, err := canonical(v.Index(i), true)
		if err != nil {
			return nil, fmt.Errorf("%d: %w", i, err)
		}
		text = append(append(text, encoded...), ',')
	}
	return append(bytes.TrimSuffix(text, []byte(",")), ']'), nil
}

// object encodes members by their names. Of two with a name the outer one counts, which comes first.
func object(members []member) []byte {
	slices.SortStableFunc(members, func(a, b member) int { return cmp.Compare(a.name, b.name) })
	size := len("{}")
	for _, m := range members {
		size += len(m.name) + len(m.value) + len(`"":,`)
	}
	text := append(make([]byte, 0, size), '{')
	for i, m := range members {
		if i > 0 && members[i-1].name == m.name {
			continue
		}
		quoted, _ := json.Marshal(m.name) // a string
		text = append(append(append(append(text, quoted...), ':'), m.value...), ',')
	}
	return append(bytes.TrimSuffix(text, []byte(",")), '}')
}
