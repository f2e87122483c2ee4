package namespaced

import (
	"maps"
	"slices"
	"strings"
)

// positions holds the resource version of each namespace. Its text is the resource version of a merged list, from which only a merged
// watch can go on.
type positions map[string]string

// positionsPrefix distinguishes the text from a resource version of the API server, which is a number.
const positionsPrefix = "namespaces:"

// String returns a text such as namespaces:team-a=12,team-b=15.
func (p positions) String() string {
	var parts []string
	for _, namespace := range slices.Sorted(maps.Keys(p)) {
		parts = append(parts, namespace+"="+p[namespace])
	}
	return positionsPrefix + strings.Join(parts, ",")
}

// parsePositions returns the positions in a resource version, and false if it is not that of a merged list.
func parsePositions(resourceVersion string) (positions, bool) {
	text, ok := strings.CutPrefix(resourceVersion, positionsPrefix)
	if !ok {
		return nil, false
	}
	p := positions{}
	for part := range strings.SplitSeq(text, ",") {
		if namespace, version, ok := strings.Cut(part, "="); ok {
			p[namespace] = version
		}
	}
	return p, true
}
