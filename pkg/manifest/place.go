package manifest

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	yamlv3 "go.yaml.in/yaml/v3"

	"github.com/firesteel-dev/firesteel/pkg/finding"
)

// Locate adds the place of its field to each finding. A missing field has the place of the nearest field above it that exists.
func (m *Manifest) Locate(found finding.List) []Located {
	located := make([]Located, 0, len(found))
	for _, f := range found {
		line, column := m.Place(f)
		located = append(located, Located{f, line, column})
	}
	return located
}

// inText matches the first path in the text of a finding. It is used for a finding without a field.
var inText = regexp.MustCompile(`\b(?:spec|metadata)(?:[.\[][\w./\[\]-]*[\w\]])?`)

// Place returns the line and the column of the field of a finding, both from 1.
func (m *Manifest) Place(f finding.Finding) (line, column int) {
	path := f.Field
	if path == "" {
		path = inText.FindString(f.Text)
	}
	if m.source == nil {
		return m.Line, 1
	}
	node := find(m.tree(), path)
	return m.source.before + node.Line, node.Column
}

// maxDepth bounds how deep a path is followed. Aliases could make a circle.
const maxDepth = 64

// find returns the key of the deepest field of a path that exists, or the entry of a list.
func find(node *yamlv3.Node, path string) *yamlv3.Node {
	last := node
	for range maxDepth {
		node = resolved(node)
		path = strings.TrimPrefix(path, ".")
		if path == "" {
			return last
		}
		var key *yamlv3.Node
		switch node.Kind {
		case yamlv3.MappingNode:
			key, node, path = entry(node, path)
		case yamlv3.SequenceNode:
			key, node, path = element(node, path)
		}
		if key == nil {
			return last
		}
		last = key
	}
	return last
}

// entry returns the key of a mapping with which a path begins, its value, and the rest of the path. Keys may contain dots and brackets: the longest
// matching key counts.
func entry(node *yamlv3.Node, path string) (key, child *yamlv3.Node, rest string) {
	for i := 0; i+1 < len(node.Content); i += 2 {
		name := node.Content[i].Value
		after, fits := strings.CutPrefix(path, "["+name+"]")
		if !fits {
			after, fits = strings.CutPrefix(path, name)
			fits = fits && (after == "" || after[0] == '.' || after[0] == '[')
		}
		if fits && (key == nil || len(name) > len(key.Value)) {
			key, child, rest = node.Content[i], node.Content[i+1], after
		}
	}
	if key == nil {
		return nil, node, path
	}
	return key, child, rest
}

// element returns the element of a list with which a path begins, such as [2], and the rest of the path.
func element(node *yamlv3.Node, path string) (key, child *yamlv3.Node, rest string) {
	index, after, found := strings.Cut(strings.TrimPrefix(path, "["), "]")
	at, err := strconv.Atoi(index)
	if !strings.HasPrefix(path, "[") || !found || err != nil || at < 0 || at >= len(node.Content) {
		return nil, node, path
	}
	return node.Content[at], node.Content[at], after
}

// resolved returns the node that an alias stands for.
func resolved(node *yamlv3.Node) *yamlv3.Node {
	for range maxDepth {
		if node.Kind != yamlv3.AliasNode || node.Alias == nil {
			return node
		}
		node = node.Alias
	}
	return node
}

// value returns the value of a key; nil if there is none.
func value(node *yamlv3.Node, name string) *yamlv3.Node {
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == name {
			return resolved(node.Content[i+1])
		}
	}
	return nil
}

// duplicates returns a finding for each key that a mapping has twice. YAML would take the last one.
func (d document) duplicates(root *yamlv3.Node) []Located {
	var found []Located
	var walk func(node *yamlv3.Node, path string, depth int)
	walk = func(node *yamlv3.Node, path string, depth int) {
		if depth > maxDepth || len(found) >= finding.Max {
			return
		}
		switch node.Kind {
		case yamlv3.MappingNode:
			seen := map[string]int{}
			for i := 0; i+1 < len(node.Content); i += 2 {
				key := node.Content[i]
				below := strings.TrimPrefix(path+"."+key.Value, ".")
				if first, twice := seen[key.Value]; twice && key.Value != "<<" && len(found) < finding.Max {
					remedy := "remove one of them"
					if isHeader := below == "apiVersion" || below == "kind"; isHeader {
						remedy = "write a line of --- before it if another object begins, or " + remedy
					}
					found = append(found, Located{finding.Finding{
						Reason: "DuplicateKey", Field: below, Message: fmt.Sprintf("is set on line %d already", d.before+first), Remedy: remedy,
					}, d.before + key.Line, key.Column})
				}
				seen[key.Value] = key.Line
				walk(node.Content[i+1], below, depth+1)
			}
		case yamlv3.SequenceNode:
			for i, child := range node.Content {
				walk(child, fmt.Sprintf("%s[%d]", path, i), depth+1)
			}
		}
	}
	walk(root, "", 0)
	if at := slices.IndexFunc(found, func(f Located) bool { return f.Field == "apiVersion" || f.Field == "kind" }); at >= 0 { // the other keys follow from it
		header := found[at]
		return append([]Located{header}, slices.DeleteFunc(found, isTop)...)
	}
	return found
}

// isTop reports whether a finding is about a field of the object itself.
func isTop(f Located) bool { return !strings.ContainsAny(f.Field, ".[") }
