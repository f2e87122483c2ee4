package actions

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// properties are the Spark properties for names that an API does not have as fields. pkg/diagnosis/why suggests these names.
var properties = map[string]string{
	"image":                   "spark.kubernetes.container.image",
	"driver.cores":            "spark.driver.cores",
	"driver.memory":           "spark.driver.memory",
	"driver.memoryOverhead":   "spark.driver.memoryOverhead",
	"driver.serviceAccount":   "spark.kubernetes.authenticate.driver.serviceAccountName",
	"driver.image":            "spark.kubernetes.driver.container.image",
	"executor.cores":          "spark.executor.cores",
	"executor.instances":      "spark.executor.instances",
	"executor.memory":         "spark.executor.memory",
	"executor.memoryOverhead": "spark.executor.memoryOverhead",
	"executor.image":          "spark.kubernetes.executor.container.image",
}

// Bounds of the changes.
const (
	maxChanges     = 64
	maxChangeBytes = 64 << 10
)

// Change is a change of a spec: the path of a field, and its new value.
type Change struct{ path, value string }

// ParseChanges reads changes, each as FIELD=VALUE.
func ParseChanges(given []string) ([]Change, error) {
	if len(given) > maxChanges {
		return nil, Invalid("there are %d changes: write at most %d", len(given), maxChanges)
	}
	var changes []Change
	for _, text := range given {
		path, value, ok := strings.Cut(text, "=")
		path = strings.TrimPrefix(path, "spec.")
		switch {
		case len(text) > maxChangeBytes:
			return nil, Invalid("%.64s… has %d bytes: write at most %d", text, len(text), maxChangeBytes)
		case !ok || path == "":
			return nil, Invalid("%q is no change: write FIELD=VALUE, such as driver.memory=4g", text)
		}
		changes = append(changes, Change{path, value})
	}
	return changes, nil
}

// setter changes the spec of an object of one type.
type setter struct {
	spec reflect.Type
	// explain returns the command that lists the fields at a path of the spec.
	explain func(path string) string
}

// apply makes a change. If the API has no field of that name, it sets the Spark property.
func (s *setter) apply(object map[string]any, c Change) error {
	segments := strings.Split(c.path, ".")
	if c.path == "image" {
		return s.setImages(object, c.value)
	}
	steps, problem := s.resolve(segments)
	if property, ok := properties[c.path]; ok && problem != nil {
		steps, problem = s.resolve([]string{"sparkConf", property})
	}
	if problem != nil {
		return Invalid("%s: %v", c.path, problem)
	}
	value, err := typed(steps[len(steps)-1].of, c.value)
	if err != nil {
		return Invalid("%s: %v", c.path, err)
	}
	var names []string
	for _, step := range steps {
		names = append(names, step.name)
	}
	if err := unstructured.SetNestedField(object, value, append([]string{"spec"}, names...)...); err != nil {
		return Invalid("%s: the spec has something else there (%v)", c.path, err)
	}
	return nil
}

// setImages sets the image of driver and executors, in the fields or the property that the API has for it.
func (s *setter) setImages(object map[string]any, image string) error {
	if image == "" {
		return Invalid("image: the value is empty: write the name of an image")
	}
	has := func(path ...string) bool {
		_, problem := s.resolve(path)
		return problem == nil
	}
	var fields [][]string
	forBoth := has("image")
	if forBoth {
		fields = append(fields, []string{"image"})
	}
	for _, role := range []string{"driver", "executor"} {
		// A role's own image wins over the one for both.
		_, own, _ := unstructured.NestedString(object, "spec", role, "image")
		if has(role, "image") && (own || !forBoth) {
			fields = append(fields, []string{role, "image"})
		}
	}
	if len(fields) == 0 {
		fields = [][]string{{"sparkConf", properties["image"]}}
	}
	for _, path := range fields {
		if err := unstructured.SetNestedField(object, image, append([]string{"spec"}, path...)...); err != nil {
			return Invalid("image: the spec has something else there (%v)", err)
		}
	}
	return nil
}

// step is a field on the way to a value, with its type.
type step struct {
	name string
	of   reflect.Type
}

// resolve returns the steps of a path with their types. In a map of texts, the rest of the path is one key: names of Spark properties have dots.
func (s *setter) resolve(segments []string) ([]step, error) {
	var steps []step
	at := s.spec
	for i := 0; i < len(segments); i++ {
		path := strings.Join(segments[:i], ".")
		for at.Kind() == reflect.Pointer {
			at = at.Elem()
		}
		switch {
		case at.Kind() == reflect.Map:
			key := segments[i]
			if elem := at.Elem(); elem.Kind() != reflect.Struct && elem.Kind() != reflect.Pointer {
				key, i = strings.Join(segments[i:], "."), len(segments)
			}
			if key == "" {
				return nil, Invalid("%s needs the name of an entry", path)
			}
			at = at.Elem()
			steps = append(steps, step{key, at})
		case decodesItself(at) || at.Kind() != reflect.Struct:
			return nil, Invalid("%s has no parts: write its whole value, as JSON if it is a list or an object", path)
		default:
			field, ok := fieldNamed(at, segments[i])
			if !ok {
				return nil, Invalid("there is no field %s%s: %s lists the fields",
					strings.Join(segments[:i+1], "."), suggestion(at, segments[:i], segments[i]), s.explain(path))
			}
			at = field
			steps = append(steps, step{segments[i], at})
		}
	}
	return steps, nil
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

func decodesItself(t reflect.Type) bool { return reflect.PointerTo(t).Implements(unmarshaler) }

// fieldsOf returns the types of the fields of a struct by their names in JSON.
func fieldsOf(t reflect.Type) map[string]reflect.Type {
	fields := map[string]reflect.Type{}
	for i := range t.NumField() {
		field := t.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		of := field.Type
		switch {
		case name == "-" || !field.IsExported():
		case name == "" && (field.Anonymous || options == "inline"):
			for of.Kind() == reflect.Pointer {
				of = of.Elem()
			}
			for name, of := range fieldsOf(of) {
				fields[name] = of
			}
		case name != "":
			fields[name] = of
		}
	}
	return fields
}

func fieldNamed(t reflect.Type, name string) (reflect.Type, bool) {
	of, ok := fieldsOf(t)[name]
	return of, ok
}

// suggestion returns a text with the fields whose names are similar to a wrong one.
func suggestion(t reflect.Type, parents []string, wrong string) string {
	var like []string
	const begin = 3
	for name := range fieldsOf(t) {
		a, b := strings.ToLower(name), strings.ToLower(wrong)
		if a == b || len(b) >= begin && strings.HasPrefix(a, b[:begin]) {
			like = append(like, strings.Join(append(slices.Clone(parents), name), "."))
		}
	}
	if len(like) == 0 {
		return ""
	}
	slices.Sort(like)
	const most = 5
	return " (did you mean " + strings.Join(like[:min(len(like), most)], ", ") + "?)"
}

// typed returns a text as a value of a type. Other types than texts are read as JSON.
func typed(t reflect.Type, text string) (any, error) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	quoted, err := json.Marshal(text)
	if err != nil {
		return nil, err
	}
	candidates := [][]byte{[]byte(text), quoted}
	if t.Kind() == reflect.String && !decodesItself(t) {
		candidates = [][]byte{quoted}
	}
	for _, candidate := range candidates {
		decoder := json.NewDecoder(strings.NewReader(string(candidate)))
		decoder.DisallowUnknownFields()
		if decoder.Decode(reflect.New(t).Interface()) != nil || decoder.More() {
			continue
		}
		var value any
		if err := utiljson.Unmarshal(candidate, &value); err != nil {
			return nil, err
		}
		return value, nil
	}
	return nil, fmt.Errorf("%q is not %s", text, valueOf(t))
}

// valueOf describes the values of a type, for error messages.
func valueOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return "a whole number of " + strconv.Itoa(t.Bits()) + " bits"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Slice:
		return "a list in JSON, such as [\"a\",\"b\"]"
	case reflect.Map, reflect.Struct:
		if decodesItself(t) {
			return "a value of this field: kubectl explain shows which"
		}
		return "an object in JSON, such as {\"a\":\"b\"}, of known fields"
	default:
		return "a value of this field: kubectl explain shows which"
	}
}
