package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"

	yamlv3 "go.yaml.in/yaml/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/firesteel-dev/firesteel/pkg/finding"
)

const (
	// MaxBytes bounds a document. The API server takes no object of half that size.
	MaxBytes = 3 << 20
	// MaxFileBytes bounds a file, and with it the memory for its documents.
	MaxFileBytes = 64 << 20
	// maxObjects bounds the objects of one file.
	maxObjects = 10_000
)

// Manifest is one object of a file.
type Manifest struct {
	// Header is the kind and the metadata. It is empty if the document is no object.
	Header metav1.PartialObjectMetadata
	// JSON is the object. It is nil if Problem is set.
	JSON []byte
	// Line is the line on which the object begins, from 1.
	Line int
	// Problem is why the document cannot be read; nil if it can. Its line is Line.
	Problem *finding.Finding
	// Duplicates are findings about keys that a mapping has twice. kubectl refuses such a manifest.
	Duplicates []Located

	source *source // nil if Problem is set
	item   int     // the place in a list; -1 if the document is no list
}

// Located is a finding with the place of its field.
type Located struct {
	finding.Finding
	Line, Column int
}

// Parse reads the objects of a file. Empty documents are left out.
func Parse(text []byte) []*Manifest {
	var all []*Manifest
	parsed := &trees{}
	for _, document := range split(text) {
		for object := range document.objects() {
			for _, manifest := range object.parse(parsed) {
				if len(all) == maxObjects {
					return append(all, &Manifest{Line: manifest.Line, Problem: &finding.Finding{
						Text: fmt.Sprintf("the file has more than %d objects, and the others are not read", maxObjects), Remedy: "split it",
					}})
				}
				all = append(all, manifest)
			}
		}
	}
	return all
}

// document is a part of a file between two separators.
type document struct {
	text []byte
	// before is the number of lines before it.
	before int
}

// split cuts a file into its documents, as kubectl does: at lines that begin with --- and have nothing after it but space or a comment.
func split(text []byte) []document {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	var documents []document
	begin, before, line := 0, 0, 0
	for at := 0; at < len(text); line++ {
		end := len(text)
		if newline := bytes.IndexByte(text[at:], '\n'); newline >= 0 {
			end = at + newline + 1
		}
		if isSeparator(text[at:end]) {
			documents = append(documents, document{text[begin:at], before})
			begin, before = end, line+1
		}
		at = end
	}
	return append(documents, document{text[begin:], before})
}

func isSeparator(line []byte) bool {
	rest, found := bytes.CutPrefix(line, []byte("---"))
	trimmed := bytes.TrimSpace(rest)
	return found && (len(trimmed) == 0 || rest[0] != '-' && trimmed[0] == '#')
}

// objects iterates over the objects of a stream of JSON, each as a document of its own, as kubectl reads them. Another document is not cut.
func (d document) objects() iter.Seq[document] {
	return func(yield func(document) bool) {
		for {
			end := jsonEnd(d.text)
			if !beginsObject(d.text[end:]) || end == 0 {
				yield(d)
				return
			}
			if !yield(document{d.text[:end], d.before}) {
				return
			}
			d = document{d.text[end:], d.before + bytes.Count(d.text[:end], []byte("\n"))}
		}
	}
}

func beginsObject(text []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) }

// jsonEnd returns the offset after the JSON object with which a text begins; 0 if it begins with none.
func jsonEnd(text []byte) int {
	if !beginsObject(text) {
		return 0
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	var object json.RawMessage
	if decoder.Decode(&object) != nil {
		return 0
	}
	return int(decoder.InputOffset())
}

// parse reads the objects of a document: one, or the items of a list.
func (d document) parse(parsed *trees) []*Manifest {
	if len(d.text) > MaxBytes {
		blank := len(d.text) - len(bytes.TrimLeft(d.text, " \t\r\n"))
		return []*Manifest{{Line: d.lineOf(blank), Problem: &finding.Finding{
			Reason: "TooLarge", Text: fmt.Sprintf("the document has more than %d bytes, and no manifest has", MaxBytes),
			Remedy: "write each object as a document of its own, or leave it out",
		}}}
	}
	if end := jsonEnd(d.text); end > 0 { // YAML takes no tabs, and JSON has none within texts
		d.text = slices.Concat(bytes.ReplaceAll(d.text[:end], []byte("\t"), []byte(" ")), d.text[end:])
	}
	var root yamlv3.Node
	if err := unmarshal(d.text, &root); err != nil {
		return []*Manifest{d.unreadable(err)}
	}
	if root.Kind == 0 || len(root.Content) == 0 || isNull(root.Content[0]) {
		return nil
	}
	node := root.Content[0]
	encoded, err := yaml.YAMLToJSON(d.text)
	if err != nil {
		return []*Manifest{d.unreadable(err)}
	}
	of := &source{document: d, trees: parsed}
	parsed.last, parsed.root = of, node
	manifest := &Manifest{JSON: encoded, Line: d.before + node.Line, Duplicates: d.duplicates(node), source: of, item: -1}
	if err := json.Unmarshal(encoded, &manifest.Header); err != nil {
		manifest.Header = withoutMetadata(encoded) // its decoder says why
	}
	if items := manifest.items(node); items != nil {
		return items
	}
	return []*Manifest{manifest}
}

// withoutMetadata returns the header of an object whose metadata cannot be decoded.
func withoutMetadata(encoded []byte) (header metav1.PartialObjectMetadata) {
	if json.Unmarshal(encoded, &header.TypeMeta) != nil {
		return metav1.PartialObjectMetadata{}
	}
	return header
}

func isNull(node *yamlv3.Node) bool { return node.Kind == yamlv3.ScalarNode && node.Tag == "!!null" }

// items returns the objects of a list as manifests of their own; nil if the object is no list.
func (m *Manifest) items(root *yamlv3.Node) []*Manifest {
	if m.Header.Kind != "List" && !strings.HasSuffix(m.Header.Kind, "List") || root.Kind != yamlv3.MappingNode {
		return nil
	}
	var list struct {
		Items []json.RawMessage `json:"items"`
	}
	items := value(root, "items")
	if items == nil || items.Kind != yamlv3.SequenceNode || json.Unmarshal(m.JSON, &list) != nil || len(list.Items) != len(items.Content) {
		return nil
	}
	found := []*Manifest{}
	for i, item := range list.Items {
		node := resolved(items.Content[i])
		one := &Manifest{JSON: item, Line: m.source.before + node.Line, Duplicates: m.source.duplicates(node), source: m.source, item: i}
		if i == 0 { // those of the list itself
			one.Duplicates = append(slices.DeleteFunc(m.Duplicates, func(d Located) bool { return strings.HasPrefix(d.Field, "items[") }), one.Duplicates...)
		}
		if err := json.Unmarshal(item, &one.Header); err != nil {
			one.Header = withoutMetadata(item)
		}
		found = append(found, one)
	}
	return found
}
