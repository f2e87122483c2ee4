package manifest

import (
	"sync"

	yamlv3 "go.yaml.in/yaml/v3"
)

// trees holds the tree of the document of a file that was parsed last. The trees of all would take a hundred times the memory of the file.
type trees struct {
	mutex sync.Mutex
	last  *source
	root  *yamlv3.Node
}

// source is the document of a manifest. It is parsed again when a finding is located, if another one was parsed since.
type source struct {
	document
	trees *trees
}

// tree returns the tree of the object. It can be parsed, since it was.
func (m *Manifest) tree() *yamlv3.Node {
	parsed := m.source.trees
	parsed.mutex.Lock()
	defer parsed.mutex.Unlock()
	if parsed.last != m.source {
		var root yamlv3.Node
		_ = unmarshal(m.source.text, &root)
		parsed.last, parsed.root = m.source, root.Content[0]
	}
	if m.item < 0 {
		return parsed.root
	}
	return resolved(value(parsed.root, "items").Content[m.item])
}
