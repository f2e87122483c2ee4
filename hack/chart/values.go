package main

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// mark begins the description of a value.
const mark = "# -- "

// value is a value of the chart, or a section of values.
type value struct {
	path        string
	description string
	node        *yaml.Node
	// section holds the values of a section. A value has none.
	section []value
}

// parseValues reads values.yaml. A key with a description is a value, whatever is below it. A key without one is a section.
func parseValues(text []byte) ([]value, error) {
	document := &yaml.Node{}
	if err := yaml.Unmarshal(text, document); err != nil {
		return nil, err
	}
	return section("", document.Content[0])
}

func section(path string, node *yaml.Node) ([]value, error) {
	var values []value
	for i := 0; i < len(node.Content); i += 2 {
		key, content := node.Content[i], node.Content[i+1]
		v := value{path: strings.TrimPrefix(path+"."+key.Value, "."), node: content}
		_, v.description, _ = strings.Cut(key.HeadComment, mark)
		if v.description == "" {
			if content.Kind != yaml.MappingNode || len(content.Content) == 0 {
				return nil, fmt.Errorf("values.yaml: %s has no description: write a comment that begins with %q", v.path, mark)
			}
			var err error
			if v.section, err = section(v.path, content); err != nil {
				return nil, err
			}
		}
		values = append(values, v)
	}
	return values, nil
}

func (v *value) key() string { return v.path[strings.LastIndex(v.path, ".")+1:] }
