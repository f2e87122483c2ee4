package check

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/finding"
)

// ExamineRest returns what is found about a manifest in JSON that cannot be decoded, apart from the values that cannot be decoded: found is about those.
// What may follow from their lack is left out. So a user corrects a manifest once. namespace is that of an object that names none.
func ExamineRest(manifest []byte, found finding.List, namespace string, installation *config.Config, now time.Time) finding.List {
	object := decodeRest(manifest, found)
	if object == nil {
		return nil
	}
	if object.GetNamespace() == "" {
		object.SetNamespace(namespace)
	}
	more, _ := Examine(object, installation, now, AsBuilt)
	if IsUndecodable(more) {
		return nil
	}
	return more.IndependentOf(found)
}

// decodeRest decodes a manifest without the values that findings are about; nil if that is not possible. A number in the place of a text becomes one.
func decodeRest(manifest []byte, found finding.List) Object {
	kept, err := changed(manifest, found, asText)
	if err != nil {
		return nil
	}
	if of, known := kindIn(kept); known {
		if kept, err = changed(kept, of.wrongTypes(kept), nothing); err != nil {
			return nil
		}
	}
	object, err := Decode(kept)
	if err != nil {
		return nil
	}
	return object
}

// changed returns a manifest in JSON with other values in the places of those that findings are about.
func changed(manifest []byte, found finding.List, change func(value any) any) ([]byte, error) {
	decoder := json.NewDecoder(bytes.NewReader(manifest))
	decoder.UseNumber()
	var object map[string]any
	if err := decoder.Decode(&object); err != nil {
		return nil, err
	}
	for _, f := range found {
		if f.Severity == finding.Error && f.Field != "" {
			set(object, f.Field, change)
		}
	}
	return json.Marshal(object)
}

// nothing removes a value.
func nothing(any) any { return nil }

// asText returns a number or a boolean as a text, and any other value as it is.
func asText(value any) any {
	switch value.(type) {
	case json.Number, bool:
		return fmt.Sprint(value)
	default:
		return value
	}
}

// set changes the value at a path such as spec.volumes[0].name or spec.sparkConf[spark.driver.memory]. A field that becomes nil is removed. An entry of a
// list stays, so that the others keep their places.
func set(value any, path string, change func(any) any) {
	name, rest := step(path)
	switch value := value.(type) {
	case map[string]any:
		current, exists := value[name]
		switch {
		case !exists:
		case rest != "":
			set(current, rest, change)
		default:
			if value[name] = change(current); value[name] == nil {
				delete(value, name)
			}
		}
	case []any:
		index, err := strconv.Atoi(name)
		switch {
		case err != nil || index < 0 || index >= len(value):
		case rest != "":
			set(value[index], rest, change)
		default:
			value[index] = change(value[index])
		}
	}
}

// step divides a path into the name of its first field, entry or index, and the rest.
func step(path string) (name, rest string) {
	if key, isEntry := strings.CutPrefix(path, "["); isEntry {
		name, rest, _ = strings.Cut(key, "]")
	} else if end := strings.IndexAny(path, ".["); end >= 0 {
		name, rest = path[:end], path[end:]
	} else {
		name = path
	}
	return name, strings.TrimPrefix(rest, ".")
}
