package quantity

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/firesteel-dev/firesteel/pkg/finding"
)

// Check returns a *finding.Finding if JSON for a type has a quantity that is not bounded, or too many quantities. It checks only fields that are
// quantities in the type. Other fields, such as arguments, may look like a quantity of any length.
func Check(data []byte, into reflect.Type) error {
	fields := quantitiesOf(into)
	if fields == nil {
		return nil
	}
	return newChecker(data).value(fields)
}

// CheckUnrepeated is Check for a decoder that refuses a field that an object has twice. It reads to the last of the type's fields that have
// quantities, and no farther.
func CheckUnrepeated(data []byte, into reflect.Type) error {
	fields := quantitiesOf(into)
	if fields == nil {
		return nil
	}
	c := newChecker(data)
	c.last = fields
	return c.value(fields)
}

// Locate returns a *finding.Finding with the field if the error of a decoder, for which Check found nothing, is about a quantity that cannot be
// parsed. It returns all other errors as they are.
func Locate(err error, data []byte, into reflect.Type) error {
	if !errors.Is(err, resource.ErrFormatWrong) && !errors.Is(err, resource.ErrNumeric) && !errors.Is(err, resource.ErrSuffix) {
		return err
	}
	c := newChecker(data)
	c.parses = true
	return cmp.Or(c.value(quantitiesOf(into)), err)
}

func newChecker(data []byte) *checker {
	return &checker{values: jsontext.NewDecoder(bytes.NewBuffer(data), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))}
}

// checker reads JSON in parallel with the type that it will be decoded into.
type checker struct {
	values *jsontext.Decoder
	count  int
	// parses reports whether quantities are parsed, too.
	parses bool
	// last is the object that is read no farther than to its last field with quantities. It is nil if all are read to their ends.
	last *typeQuantities
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
	default: // the kind does not match the type, which the decoder reports better
		return c.values.SkipValue()
	}
}

// quantity reads a quantity as Kubernetes does: a string without unescaping, or a number.
func (c *checker) quantity() error {
	raw, err := c.values.ReadValue()
	if err != nil {
		return err
	}
	if c.count++; c.count > maxCount {
		return c.refuse(nil, fmt.Sprintf("is one of more than %d quantities in one object", maxCount))
	}
	text := strings.TrimSpace(strings.Trim(string(raw), `"`))
	if problem := boundsProblem(text); problem != "" {
		return c.refuse(fmt.Sprintf("%.*s", maxLength, text), problem)
	}
	if c.parses {
		if _, err := resource.ParseQuantity(text); err != nil {
			return c.refuse(text, fmt.Sprintf("is no quantity (%v)", err))
		}
	}
	return nil
}

func (c *checker) object(s *typeQuantities) error {
	if _, err := c.values.ReadToken(); err != nil {
		return err
	}
	left := len(s.fields)
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
		if next == nil {
			continue
		}
		if left--; left == 0 && s == c.last {
			return nil
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

func (c *checker) refuse(value any, problem string) error {
	return &finding.Finding{
		Severity: finding.Error, Field: Field(c.values.StackPointer()), Value: value, Message: problem, Remedy: remedy,
	}
}

// maxField bounds a path in a message, since users choose the names of resources.
const maxField = 256

// Field formats a JSON pointer as the path in a manifest, such as spec.volumes[0].emptyDir.sizeLimit.
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

// typeQuantities describes where a type has quantities. It is nil for a type without quantities.
type typeQuantities struct {
	isQuantity bool
	isList     bool
	// elem describes the elements of a list or a map.
	elem *typeQuantities
	// fields describes the fields of a struct that have quantities, by their names in JSON.
	fields map[string]*typeQuantities
}

var (
	typeCache    sync.Map // from reflect.Type to *typeQuantities
	quantityType = reflect.TypeFor[resource.Quantity]()
)

func quantitiesOf(t reflect.Type) *typeQuantities {
	if known, ok := typeCache.Load(t); ok {
		return known.(*typeQuantities)
	}
	quantities := newTypeQuantities(t)
	typeCache.Store(t, quantities)
	return quantities
}

// newTypeQuantities describes a type. The types that are decoded here are not recursive.
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
