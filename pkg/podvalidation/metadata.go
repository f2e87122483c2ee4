package podvalidation

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/firesteel-dev/firesteel/pkg/finding"
)

// Labels returns what the API server refuses about the labels of an object, without the values of those that are overwritten. path is that of the
// labels.
func Labels(path string, labels map[string]string, overwritten map[string]bool) finding.List {
	c := &checker{}
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		at := finding.Entry(path, key)
		c.reasons(at, labels[key], "is under a key that no label can have", validation.IsQualifiedName(key))
		if !overwritten[key] {
			c.labelValue(at, labels[key])
		}
	}
	return c.found
}
