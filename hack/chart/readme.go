package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"text/template"

	"go.yaml.in/yaml/v3"
)

//go:embed README.md.tmpl
var readmeText string

// row is a row of the table of values.
type row struct{ Key, Default, Description string }

// readme returns the chart's README.md.
func readme(values []value) ([]byte, error) {
	page, err := template.New("README.md").Delims("[[", "]]").Parse(readmeText)
	if err != nil {
		return nil, err
	}
	rows, err := rowsOf(values)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = page.Execute(&out, rows)
	return out.Bytes(), err
}

func rowsOf(values []value) (rows []row, err error) {
	for _, v := range values {
		if v.section != nil {
			below, err := rowsOf(v.section)
			if err != nil {
				return nil, err
			}
			rows = append(rows, below...)
			continue
		}
		text, err := defaultOf(v.node)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", v.path, err)
		}
		rows = append(rows, row{Key: v.path, Default: text, Description: strings.ReplaceAll(v.description, "|", `\|`)})
	}
	return rows, nil
}

func defaultOf(node *yaml.Node) (string, error) {
	var decoded any
	if err := node.Decode(&decoded); err != nil {
		return "", err
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(decoded); err != nil {
		return "", err
	}
	return "`" + strings.TrimSpace(strings.ReplaceAll(out.String(), "|", `\|`)) + "`", nil
}
