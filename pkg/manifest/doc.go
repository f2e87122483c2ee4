// Package manifest reads files with manifests: YAML with any number of documents, JSON, and lists. It remembers on which line each field is, so
// that a finding (pkg/finding) can be shown where its field is.
package manifest
