package parity

import (
	"regexp"
	"strings"

	"github.com/firesteel-dev/firesteel/pkg/objectdiff"
)

// Object is an object as JSON.
type Object = map[string]any

// What stands for what is random. The unique id has the length of Spark's, on which names depend.
const (
	uniqueID = "0123456789abcdef"
	appID    = "spark-application-id"
	localDir = "/var/data/spark-uuid"
	ownerUID = "uid"
)

// Normal returns the fields of objects in the form in which they are compared. See the package comment.
func Normal(objects []Object) Fields {
	result := map[string]Object{}
	claims := claimIndexes(objects)
	for _, object := range objects {
		normalise(object)
		fixed := ReplaceTexts(object, func(text string) string { return claims.replace(FixedText(text)) }).(Object)
		sortAlike(fixed)
		result[key(fixed)] = fixed
	}
	return Flatten(result)
}

// key is the kind of an object and its name without what comes from the application's.
func key(object Object) string {
	name := text(object["metadata"], "name")
	if _, ending, own := strings.Cut(name, uniqueID[1:]); own {
		name = ending
	}
	if object["kind"] == "Pod" {
		return "Pod" // the only one
	}
	return object["kind"].(string) + "/" + name
}

// normalise removes what the API server adds, and normalises the parts that are special to a kind.
func normalise(object Object) {
	delete(object, "status")
	delete(object, "apiVersion")
	meta := object["metadata"].(Object)
	for _, name := range []string{"uid", "creationTimestamp", "resourceVersion", "managedFields", "generation", "namespace"} {
		delete(meta, name)
	}
	for _, owner := range list(meta["ownerReferences"]) {
		owner["uid"] = ownerUID
	}
	spec, _ := object["spec"].(Object)
	switch object["kind"] {
	case "Pod":
		objectdiff.DropPodDefaults(spec)
	case "Service":
		defaultService(spec)
	case "PersistentVolumeClaim":
		objectdiff.DropDefaults(spec, Object{"volumeMode": "Filesystem"})
		delete(meta, "finalizers")
	case "ConfigMap":
		readConfigMap(object["data"].(Object))
	}
	objectdiff.DropEmpty(object)
}

var (
	applicationIDs = regexp.MustCompile(`spark-[0-9a-f]{32}`)
	localDirs      = regexp.MustCompile(`/var/data/spark-[0-9a-f-]{36}`)
	uniqueIDs      = regexp.MustCompile(`\b[0-9a-fx][0-9a-f]{15}\b`)
	claimNames     = regexp.MustCompile(`-driver-pvc-\d+`)
	generated      = regexp.MustCompile(`\b(spark-upload-)[0-9a-f-]{36}`)
)

// FixedText replaces random values by a fixed text.
func FixedText(text string) string {
	text = applicationIDs.ReplaceAllString(text, appID)
	text = localDirs.ReplaceAllString(text, localDir)
	text = generated.ReplaceAllString(text, "${1}uuid")
	text = uniqueIDs.ReplaceAllString(text, uniqueID)
	// A prefix that begins with the id loses a leading digit.
	if rest, first := strings.CutPrefix(text, uniqueID); first {
		text = "x" + uniqueID[1:] + rest
	}
	return text
}

// claimNumbers are the endings of the names of claims that Spark numbers, in arbitrary order, by the volumes that use
// them.
type claimNumbers map[string]string

func claimIndexes(objects []Object) claimNumbers {
	found := claimNumbers{}
	for _, object := range objects {
		if object["kind"] != "Pod" {
			continue
		}
		for _, volume := range list(object["spec"].(Object)["volumes"]) {
			claim, _ := volume["persistentVolumeClaim"].(Object)
			name, _ := claim["claimName"].(string)
			if ending := claimNames.FindString(name); ending != "" {
				found[ending] = "-driver-pvc-of-" + volume["name"].(string)
			}
		}
	}
	return found
}

func (c claimNumbers) replace(text string) string {
	return claimNames.ReplaceAllStringFunc(text, func(ending string) string {
		if own, known := c[ending]; known {
			return own
		}
		return ending
	})
}

// ReplaceTexts returns a value with all texts in it replaced, but for the keys of maps.
func ReplaceTexts(value any, replace func(string) string) any {
	switch value := value.(type) {
	case Object:
		for key, entry := range value {
			value[key] = ReplaceTexts(entry, replace)
		}
	case []any:
		for i, entry := range value {
			value[i] = ReplaceTexts(entry, replace)
		}
	case string:
		return replace(value)
	}
	return value
}

// list returns the entries of a list of objects.
func list(value any) []Object {
	entries, _ := value.([]any)
	result := make([]Object, len(entries))
	for i, entry := range entries {
		result[i] = entry.(Object)
	}
	return result
}
