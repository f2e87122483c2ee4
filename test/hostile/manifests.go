package hostile

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// MaxSize is how large the API server lets an object be, less what it adds.
const MaxSize = 1<<20 + 400<<10

// Manifest is an object that a user may apply.
type Manifest struct {
	Kind Kind
	// What says in a word what it tries.
	What string
	// JSON is the object.
	JSON []byte
}

// Manifest draws a manifest. The same numbers draw the same again.
func (k Kind) Manifest(seed, number uint64, namespace, name string) Manifest {
	size := MaxSize - 4<<10
	for {
		d := &draw{Rand: rand.New(rand.NewPCG(seed, number)), size: size}
		m := Manifest{Kind: k, JSON: k.manifest(namespace, name, d.change(k))}
		if m.What = d.what; len(m.JSON) <= MaxSize {
			return m
		}
		size = size * 3 / 4 // what JSON escapes is longer
	}
}

func (d *draw) change(k Kind) any {
	if k.scheduled && d.IntN(3) == 0 {
		return d.schedule()
	}
	tries := []func() any{d.somewhere(k.spec), d.somewhere(k.spec), d.everywhere(k.spec), d.properties(k.spec), d.expansions()}
	return k.within(tries[d.IntN(len(tries))]())
}

// draw draws parts of a manifest.
type draw struct {
	*rand.Rand
	// size is about how many bytes the hostile part may have.
	size int
	// what is the path of the hostile part, and what it is.
	what string
}

func (d *draw) note(format string, arguments ...any) {
	d.what = strings.TrimSpace(d.what + " " + fmt.Sprintf(format, arguments...))
}

func pick[T any](d *draw, values ...T) T { return values[d.IntN(len(values))] }

// somewhere is something hostile at one place of a type.
func (d *draw) somewhere(t reflect.Type) func() any {
	return func() any { return d.place(t, "spec") }
}

// everywhere fills lists and maps of a type with things that have the same names.
func (d *draw) everywhere(t reflect.Type) func() any {
	return func() any {
		var change any = map[string]any{}
		const places = 8
		d.size /= places
		for range places {
			change = merged(change, d.many(t, "spec"))
		}
		return change
	}
}

var (
	quantityType = reflect.TypeFor[resource.Quantity]()
	timeType     = reflect.TypeFor[metav1.Time]()
	durationType = reflect.TypeFor[metav1.Duration]()
	rawType      = reflect.TypeFor[runtime.RawExtension]()
	intOrString  = reflect.TypeFor[intstr.IntOrString]()
)

// place goes down into a type at random, and puts something hostile where it ends.
func (d *draw) place(t reflect.Type, path string) any {
	switch t {
	case quantityType:
		return d.quantity(path)
	case timeType, durationType:
		return d.text(path)
	case rawType:
		return d.raw(path)
	case intOrString:
		return d.scalar(path)
	}
	switch t.Kind() {
	case reflect.Pointer:
		return d.place(t.Elem(), path)
	case reflect.Struct:
		fields := fieldsOf(t)
		if len(fields) == 0 {
			return d.raw(path)
		}
		field := pick(d, fields...)
		return map[string]any{"name": "a", field.name: d.place(field.of, path+"."+field.name)}
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return d.text(path)
		}
		if d.IntN(2) == 0 {
			return d.list(t.Elem(), path)
		}
		return []any{d.place(t.Elem(), path+"[0]")}
	case reflect.Map:
		switch d.IntN(3) {
		case 0:
			return d.entries(t.Elem(), path)
		case 1:
			return map[string]any{d.text(path + " key"): d.small(t.Elem(), 0, 3)}
		default:
			return map[string]any{"a": d.place(t.Elem(), path+".a")}
		}
	case reflect.String:
		return d.text(path)
	case reflect.Bool:
		return d.scalar(path)
	default:
		return d.number(path)
	}
}

// many goes down into a type at random until a list or a map, and fills it.
func (d *draw) many(t reflect.Type, path string) any {
	switch {
	case t == rawType, t == quantityType, t == timeType, t == intOrString:
		return d.small(t, 0, 3)
	case t.Kind() == reflect.Pointer:
		return d.many(t.Elem(), path)
	case t.Kind() == reflect.Struct:
		fields := fieldsOf(t)
		if len(fields) == 0 {
			return map[string]any{}
		}
		field := pick(d, fields...)
		return map[string]any{field.name: d.many(field.of, path+"."+field.name)}
	case t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8:
		if t.Elem().Kind() == reflect.Struct && d.IntN(3) == 0 {
			return []any{d.many(t.Elem(), path+"[0]")}
		}
		return d.list(t.Elem(), path)
	case t.Kind() == reflect.Map:
		return d.entries(t.Elem(), path)
	default:
		return d.small(t, 0, 3)
	}
}

// scalar is something in the place of a value that is no text alone.
func (d *draw) scalar(path string) any {
	if d.IntN(2) == 0 {
		return d.number(path)
	}
	return d.text(path)
}

func (d *draw) list(t reflect.Type, path string) any {
	one, err := json.Marshal(d.small(t, 99_999, 3))
	if err != nil {
		panic(err)
	}
	count := d.size / (len(one) + 2)
	d.note("%s: a list of %d", path, count)
	distinct := pick(d, 1, 0) // or all the same
	list := make([]any, count)
	for i := range list {
		list[i] = d.small(t, i*distinct, 3)
	}
	return list
}

func (d *draw) entries(t reflect.Type, path string) any {
	one, err := json.Marshal(d.small(t, 99_999, 3))
	if err != nil {
		panic(err)
	}
	count := d.size / (len(one) + 14)
	d.note("%s: a map of %d", path, count)
	entries := map[string]any{}
	for i := range count {
		entries[fmt.Sprintf("v%d", i)] = d.small(t, i, 3)
	}
	return entries
}

// small is a small value of a type, the i-th of many.
func (d *draw) small(t reflect.Type, i, depth int) any {
	name := fmt.Sprintf("v%d", i)
	switch t {
	case quantityType:
		return fmt.Sprintf("%d", i+1)
	case timeType:
		return "2026-11-23T00:00:00Z"
	case durationType:
		return "1s"
	case rawType:
		return map[string]any{"a": name}
	case intOrString:
		return i
	}
	switch t.Kind() {
	case reflect.Pointer:
		return d.small(t.Elem(), i, depth)
	case reflect.Struct:
		value := map[string]any{}
		for _, field := range fieldsOf(t) {
			if small, ok := smallFields[field.name]; ok && depth > 0 {
				value[field.name] = d.small(field.of, i, depth-1)
				if small != "" && kindOf(field.of) == reflect.String {
					value[field.name] = small + name
				}
			}
		}
		return value
	case reflect.Slice:
		return []any{}
	case reflect.Map:
		return map[string]any{}
	case reflect.String:
		return name
	case reflect.Bool:
		return true
	default:
		return i%60_000 + 1
	}
}

func kindOf(t reflect.Type) reflect.Kind {
	if t.Kind() == reflect.Pointer {
		return t.Elem().Kind()
	}
	return t.Kind()
}

// smallFields are the fields that distinguish entries of lists and by which they refer to each other, and what their texts begin with.
var smallFields = map[string]string{
	"name": "", "key": "", "value": "", "mountPath": "/", "path": "/", "secretName": "", "claimName": "", "emptyDir": "", "sizeLimit": "",
	"containerPort": "", "port": "", "servicePort": "", "serviceMetadata": "", "serviceSpec": "", "ingressMetadata": "", "ports": "", "host": "",
	"ip": "", "secretType": "", "image": "", "serviceName": "",
}

type field struct {
	name string
	of   reflect.Type
}

func fieldsOf(t reflect.Type) (fields []field) {
	for i := range t.NumField() {
		its := t.Field(i)
		name, _, _ := strings.Cut(its.Tag.Get("json"), ",")
		switch {
		case !its.IsExported(), name == "-":
		case name == "" && its.Anonymous && its.Type.Kind() == reflect.Struct:
			fields = append(fields, fieldsOf(its.Type)...)
		case name != "":
			fields = append(fields, field{name, its.Type})
		}
	}
	return fields
}
