package codec

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/firesteel-dev/firesteel/pkg/quantity"
)

const (
	// lightValues is how many objects, lists and nulls JSON may hold that is not weighed.
	lightValues = 8192
	// The entries of an object's lists and maps may take lightBytes of memory, and heavyBytes for each byte of its JSON. What a
	// decoder allocates is several times as much, since lists grow.
	lightBytes, heavyBytes = 6 << 20, 2
)

// CheckWeight refuses JSON that would take far more memory in a type than its size explains: {} is two bytes, and a container
// of a Pod is hundreds.
func CheckWeight(data []byte, into reflect.Type) error {
	values := bytes.Count(data, []byte("{")) + bytes.Count(data, []byte("["))
	if values+len(data)/len("null") <= lightValues || values+bytes.Count(data, []byte("null")) <= lightValues {
		return nil
	}
	s := scale{
		values: jsontext.NewDecoder(bytes.NewBuffer(data), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)),
		left:   lightBytes + heavyBytes*len(data),
	}
	return s.weigh(into)
}

// scale weighs JSON beside the type that it is to become.
type scale struct {
	values *jsontext.Decoder
	// left is how many bytes of memory are left.
	left int
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

func (s *scale) weigh(t reflect.Type) error {
	kind := s.values.PeekKind()
	if t != nil && t.Kind() == reflect.Pointer && kind != 'n' {
		if err := s.take(t.Elem()); err != nil {
			return err
		}
		t = t.Elem()
	}
	switch {
	case t == nil, reflect.PointerTo(t).Implements(unmarshaler):
		return s.values.SkipValue()
	case kind == '{' && t.Kind() == reflect.Struct:
		return s.within('}', func() (reflect.Type, error) {
			name, err := s.values.ReadToken()
			return fieldsOf(t)[name.String()], err
		})
	case kind == '{' && t.Kind() == reflect.Map:
		return s.within('}', func() (reflect.Type, error) {
			if _, err := s.values.ReadToken(); err != nil {
				return nil, err
			}
			return t.Elem(), s.take(t.Key(), t.Elem())
		})
	case kind == '[' && t.Kind() == reflect.Slice:
		return s.within(']', func() (reflect.Type, error) { return t.Elem(), s.take(t.Elem()) })
	default:
		return s.values.SkipValue()
	}
}

// within weighs what an object or a list holds. next says what type a value is of.
func (s *scale) within(end jsontext.Kind, next func() (reflect.Type, error)) error {
	if _, err := s.values.ReadToken(); err != nil {
		return err
	}
	for kind := s.values.PeekKind(); kind != end && kind != 0; kind = s.values.PeekKind() {
		t, err := next()
		if err != nil {
			return err
		}
		if err := s.weigh(t); err != nil {
			return err
		}
	}
	_, err := s.values.ReadToken()
	return err
}

func (s *scale) take(types ...reflect.Type) error {
	for _, t := range types {
		s.left -= int(t.Size())
	}
	if s.left < 0 {
		return fmt.Errorf("%s is among so many entries that the object takes far more memory than its size: remove entries that say nothing",
			quantity.Field(s.values.StackPointer()))
	}
	return nil
}

var fields sync.Map // of structs, by their types

// fieldsOf are the types of a struct's fields, by their names in JSON.
func fieldsOf(t reflect.Type) map[string]reflect.Type {
	if known, ok := fields.Load(t); ok {
		return known.(map[string]reflect.Type)
	}
	found := map[string]reflect.Type{}
	for i := range t.NumField() {
		field := t.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case !field.IsExported(), name == "-":
		case name == "" && field.Anonymous && field.Type.Kind() == reflect.Struct:
			for name, fieldType := range fieldsOf(field.Type) {
				found[name] = fieldType
			}
		default:
			found[name] = field.Type
		}
	}
	fields.Store(t, found)
	return found
}
