// Package manifest reads files with manifests: YAML with any number of documents, JSON, and lists. It knows the line of each field, so that a
// finding (pkg/finding) can be shown there.
//
//	files.go     which files paths name; reads a file
//	manifest.go  text -> documents -> Manifest, one for each object
//	tree.go      parses a document again for its lines
//	place.go     the line and column of a field; keys that a mapping has twice
//	syntax.go    what is wrong with a document that is no YAML, and on which line
package manifest
