// Package finding holds what is found about a manifest: which field, what is wrong with it, and what to do. Everything that checks
// manifests uses its one type, so that conditions, an admission webhook and the command line say the same.
//
//	check (submission, dialects, clusters, schedules, quantities) -> Finding, List
//	List.String     what an attempt is refused for: one text
//	List.Sentences  what the condition Warning says
package finding
