package quantity

import (
	"bytes"
	"fmt"
	"maps"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Check refuses JSON that is to be decoded into a type, if a quantity in it is not bounded or if there are too many. Only what
// the type takes for quantities is looked at: a text elsewhere, such as an argument, may look like one of any length.
func Check(data []byte, into reflect.Type) error {
	fields := quantitiesOf(into)
	if fields == nil {
		return nil
	}
	c := checker{
		values: jsontext.NewDecoder(bytes.NewBuffer(data), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)),
	}
	return c.value(fields)
}

// Error names the quantity that cannot be read.
type Error struct {
	// Field is its path, such as spec.driverSpec.podTemplateSpec.spec.containers[0].resources.limits.cpu.
	Field string
	// Problem begins with its value.
	Problem string
}

func (e *Error) Error() string { return fmt.Sprintf("%s %s: %s", e.Field, e.Problem, remedy) }

// checker goes through JSON beside the type that it is to become.
type checker struct {
	values *jsontext.Decoder
	count  int
}

func (c *checker) value(s *typeQuantities) error {
	kind := c.values.PeekKind()
	switch {
	case s == nil:
		return c.values.SkipValue()
	case s.isQuantity && (kind == '"' || kind == '0'):
		return c.quantity()
	case kind == '{' && (s.fields != nil || s.elem != nil && !s.isList):
		return c.object(s)
	case kind == '[' && s.isList:
		return c.list(s)
	default: // of another kind than the type, which the decoder says better
		return c.values.SkipValue()
	}
}

// quantity reads one as Kubernetes does, which takes the text of JSON as it is, be it quoted or a number.
func (c *checker) quantity() error {
	raw, err := c.values.ReadValue()
	if err != nil {
		return err
	}
	if c.count++; c.count > maxCount {
		return c.refuse(fmt.Sprintf("is one of more than %d quantities in one object", maxCount))
	}
	text := strings.TrimSpace(strings.Trim(string(raw), `"`))
	if problem := boundsProblem(text); problem != "" {
		return c.refuse(fmt.Sprintf("%.*q %s", maxLength, text, problem))
	}
	return nil
}

func (c *checker) object(s *typeQuantities) error {
	if _, err := c.values.ReadToken(); err != nil {
		return err
	}
	for c.values.PeekKind() == '"' {
		name, err := c.name()
		if err != nil {
			return err
		}
		next := s.elem
		if s.fields != nil {
			next = s.fields[string(name)]
		}
		if err := c.value(next); err != nil {
			return err
		}
	}
	_, err := c.values.ReadToken()
	return err
}

func (c *checker) name() ([]byte, error) {
	raw, err := c.values.ReadValue()
	if err != nil || bytes.IndexByte(raw, '\\') < 0 {
		return bytes.Trim(raw, `"`), err
	}
	return jsontext.AppendUnquote(nil, raw)
}

func (c *checker) list(s *typeQuantities) error {
	if _, err := c.values.ReadToken(); err != nil {
		return err
	}
	for kind := c.values.PeekKind(); kind != ']' && kind != 0; kind = c.values.PeekKind() {
		if err := c.value(s.elem); err != nil {
			return err
		}
	}
	_, err := c.values.ReadToken()
	return err
}

func (c *checker) refuse(problem string) error {
	return &Error{Field: Field(c.values.StackPointer()), Problem: problem}
}

// maxField is how much of a path is named: names of resources are the user's, of any length.
const maxField = 256

// Field writes a pointer into JSON as paths of manifests are written: spec.volumes[0].emptyDir.sizeLimit.
func Field(pointer jsontext.Pointer) string {
	var path strings.Builder
	for name := range pointer.Tokens() {
		switch _, err := strconv.Atoi(name); {
		case err == nil:
			path.WriteString("[" + name + "]")
		case path.Len() > 0:
			path.WriteString("." + name)
		default:
			path.WriteString(name)
		}
		if path.Len() > maxField {
			return fmt.Sprintf("%.*s…", maxField, path.String())
		}
	}
	return path.String()
}

// typeQuantities is where in a type quantities are. It is nil for a type that holds none.
type typeQuantities struct {
	isQuantity bool
	isList     bool
	// elem is that of a list's or a map's values.
	elem *typeQuantities
	// fields are those of a struct that hold quantities, by their names in JSON.
	fields map[string]*typeQuantities
}

var (
	typeCache    sync.Map // by reflect.Type
	quantityType = reflect.TypeFor[resource.Quantity]()
)

func quantitiesOf(t reflect.Type) *typeQuantities {
	if known, ok := typeCache.Load(t); ok {
		return known.(*typeQuantities)
	}
	made := newTypeQuantities(t)
	typeCache.Store(t, made)
	return made
}

// newTypeQuantities returns the shape of a type. No type that is decoded here holds itself.
func newTypeQuantities(t reflect.Type) *typeQuantities {
	switch {
	case t == quantityType:
		return &typeQuantities{isQuantity: true}
	case t.Kind() == reflect.Pointer:
		return newTypeQuantities(t.Elem())
	case t.Kind() == reflect.Struct:
		return newStructQuantities(t)
	case t.Kind() == reflect.Slice, t.Kind() == reflect.Map:
		if elem := newTypeQuantities(t.Elem()); elem != nil {
			return &typeQuantities{isList: t.Kind() == reflect.Slice, elem: elem}
		}
	}
	return nil
}

func newStructQuantities(t reflect.Type) *typeQuantities {
	fields := map[string]*typeQuantities{}
	for i := range t.NumField() {
		field := t.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if !field.IsExported() || name == "-" {
			continue
		}
		switch inner := newTypeQuantities(field.Type); {
		case inner == nil:
		case name == "" && field.Anonymous:
			maps.Copy(fields, inner.fields)
		default:
			fields[name] = inner
		}
	}
	if len(fields) == 0 {
		return nil
	}
	return &typeQuantities{fields: fields}
}
