package parity

import (
	"encoding/json"
	"fmt"
	"regexp"

	"github.com/firesteel-dev/firesteel/pkg/objectdiff"
)

// Shown is what the Pod of an executor shows, as fields. What is in a list by its name goes by that, a mount by its path
// and a port by its number. Environment variables are those that a process sees: the last of a name counts, and values
// refer to those before.
func Shown(pod Object) Fields {
	pod = ReplaceTexts(pod, FixedText).(Object)
	objectdiff.DropEmpty(pod)
	spec := pod["spec"].(Object)
	byKey(spec, "volumes", "name")
	for _, kind := range []string{"initContainers", "containers"} {
		for _, container := range list(spec[kind]) {
			byKey(container, "ports", "containerPort")
			byKey(container, "volumeMounts", "mountPath")
			container["env"] = environment(list(container["env"]))
		}
		byKey(spec, kind, "name")
	}
	return Flatten(map[string]Object{"Pod": pod})
}

// byKey has the entries of a list go by one of their fields.
func byKey(object Object, name, key string) {
	entries := Object{}
	for _, entry := range list(object[name]) {
		entries[fmt.Sprint(entry[key])] = entry
		delete(entry, key)
	}
	object[name] = entries
	if len(entries) == 0 {
		delete(object, name)
	}
}

// toVariable is a reference in a value, or a dollar sign that is meant.
var toVariable = regexp.MustCompile(`\$\$|\$\(([-._a-zA-Z0-9]+)\)`)

// environment are the variables that a process sees, with where those come from that the Pod does not say.
func environment(entries []Object) Object {
	seen := Object{}
	for _, entry := range entries {
		name := text(entry, "name")
		if from, elsewhere := entry["valueFrom"]; elsewhere {
			where, _ := json.Marshal(from)
			seen[name] = string(where)
			continue
		}
		seen[name] = toVariable.ReplaceAllStringFunc(text(entry, "value"), func(to string) string {
			if to == "$$" {
				return "$"
			}
			if value, known := seen[to[2:len(to)-1]]; known {
				return value.(string)
			}
			return to
		})
	}
	return seen
}
