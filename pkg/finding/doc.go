// Package finding holds what is found about a manifest: which field, what is wrong with it, and what to do. Everything that checks
// manifests uses its one type, so that conditions, an admission webhook and the command line say the same.
//
//	check (submission, dialects, clusters, schedules, quantities) -> Finding, List
//	List.String     what an attempt is refused for: one text of at most 10 findings and 1024 bytes
//	List.Sentences  what the condition Warning says
//
// pkg/check returns all findings about a manifest. Finding.Field is the path that a status cause or a
// command line prints.
//
//	finding.go  Finding: one problem, and its sentence
//	list.go     List: all problems of a manifest
//	rules.go    the words that CRDs and Go share
//	unknown.go  fields that no kind has, and what may be meant
//	correct.go  the reasons of the API server in one text
package finding
