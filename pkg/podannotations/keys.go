package podannotations

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/firesteel-dev/firesteel/internal/text"
	"github.com/firesteel-dev/firesteel/pkg/finding"
)

// prefixes begin the keys. The first is that of the early operator, the second that of its successors.
var prefixes = []string{"spark-operator.k8s.io/", "sparkoperator.k8s.io/"}

// Kind is what an annotation asks for: the early operator's spelling of its key, without the prefix. One that ends with a dot is followed by
// a name.
type Kind string

// The kinds.
const (
	SparkConfigMap  Kind = "sparkConfigMap"
	HadoopConfigMap Kind = "hadoopConfigMap"
	OwnerReference  Kind = "ownerReference"
	Affinity        Kind = "affinity"
	ConfigMap       Kind = "configMap."
	Secret          Kind = "secret."
	ServiceAccount  Kind = "GCPServiceAccount."
	Volume          Kind = "volumes."
	VolumeMount     Kind = "volumemounts."
	Toleration      Kind = "tolerations."
)

// Key returns the early operator's key of a kind. The name is empty for a kind without names.
func (k Kind) Key(name string) string { return prefixes[0] + string(k) + name }

// spellings holds each spelling of a key without its prefix.
var spellings = map[string]Kind{
	"sparkConfigMap": SparkConfigMap, "spark-configmap": SparkConfigMap,
	"hadoopConfigMap": HadoopConfigMap, "hadoop-configmap": HadoopConfigMap,
	"ownerReference": OwnerReference, "ownerreference": OwnerReference,
	"affinity":   Affinity,
	"configMap.": ConfigMap, "configmap.": ConfigMap,
	"secret.":            Secret,
	"GCPServiceAccount.": ServiceAccount,
	"volumes.":           Volume,
	"volumemounts.":      VolumeMount,
	"tolerations.":       Toleration,
}

// Keys returns all keys with the prefixes, sorted. A key that ends with a dot is followed by a name.
func Keys() []string {
	var keys []string
	for _, prefix := range prefixes {
		for spelling := range spellings {
			keys = append(keys, prefix+spelling)
		}
	}
	slices.Sort(keys)
	return keys
}

// AsksFor returns what an annotation asks for, and whether it asks for a change of the Pod.
func AsksFor(key string) (Kind, bool) {
	rest, ours := withoutPrefix(key)
	of, _, known := parse(rest)
	return of, ours && known
}

const (
	// maxKeys is how many annotations of a Pod are acted on.
	maxKeys = 256
	// maxBytes bounds their keys and values. The API server allows as much for all annotations of an object, but checks that later.
	maxBytes = 256 << 10
)

// entry is an annotation.
type entry struct{ key, value string }

func (e entry) field() string { return finding.Entry("metadata.annotations", e.key) }

// refuse returns the finding for which the Pod is refused.
func (e entry) refuse(message, remedy string) *finding.Finding {
	return &finding.Finding{Severity: finding.Error, Field: e.field(), Value: text.Clip(e.value, maxPrinted), Message: message, Remedy: remedy}
}

// maxPrinted is how many bytes of a value a message has.
const maxPrinted = 128

// request is what the annotations of a Pod ask for: the annotations of each kind by their names. The name of a kind without names is empty.
type request map[Kind]map[string]entry

// read sorts annotations. It refuses what contradicts itself, and warns of unknown keys if there are known ones.
func read(annotations map[string]string) (request, finding.List, error) {
	asked := request{}
	var unknown, refused finding.List
	count, size := 0, 0
	for _, key := range slices.Sorted(maps.Keys(annotations)) {
		rest, ours := withoutPrefix(key)
		if !ours {
			continue
		}
		found := entry{key, annotations[key]}
		of, name, ok := parse(rest)
		if !ok {
			unknown.Warn(found.field(), nil, "is no key that Firesteel knows", "correct its spelling: "+strings.Join(Keys(), ", "))
			continue
		}
		count, size = count+1, size+len(key)+len(found.value)
		if earlier, twice := asked[of][name]; twice && earlier.value != found.value {
			refused = append(refused, *found.refuse("contradicts "+earlier.key, "remove one of them"))
		}
		if asked[of] == nil {
			asked[of] = map[string]entry{}
		}
		asked[of][name] = found
	}
	if count > maxKeys || size > maxBytes {
		return nil, nil, &finding.Finding{
			Severity: finding.Error, Field: "metadata.annotations",
			Message: fmt.Sprintf("have %d keys that change the Pod, with %d bytes, and may have %d with %d", count, size, maxKeys, maxBytes), Remedy: "write fewer",
		}
	}
	if count == 0 {
		return nil, nil, nil
	}
	return asked, unknown[:min(len(unknown), maxWarnings)], refused.Err()
}

// maxWarnings is how many unknown keys are reported.
const maxWarnings = 4

func withoutPrefix(key string) (rest string, ours bool) {
	for _, prefix := range prefixes {
		if rest, ours = strings.CutPrefix(key, prefix); ours {
			return rest, true
		}
	}
	return "", false
}

// parse returns what a key without its prefix asks for, and the name in it.
func parse(rest string) (of Kind, name string, ok bool) {
	spelling, name, hasName := strings.Cut(rest, ".")
	if hasName {
		spelling += "."
	}
	of, ok = spellings[spelling]
	return of, name, ok && hasName == (name != "")
}

// sorted returns the annotations of a kind, by name.
func (r request) sorted(of Kind) []named {
	var all []named
	for _, name := range slices.Sorted(maps.Keys(r[of])) {
		all = append(all, named{name, r[of][name]})
	}
	return all
}

// named is an annotation with the name in its key.
type named struct {
	name string
	entry
}
