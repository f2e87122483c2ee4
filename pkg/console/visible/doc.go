// Package visible knows which groups of objects a user may see: those of a resource in a namespace that the user may list. The API server decides.
//
//	Of(reader) -> View -> live.Visible
//
// A view is asked for in two steps: each resource in all namespaces at once, then in each namespace that has such objects. Answers are used for 60
// s, and asked for again behind the page after 40 s. What is not known yet is not seen.
package visible
