package check

import "k8s.io/apimachinery/pkg/runtime/schema"

// Served returns the kinds that Firesteel serves, in each version.
func Served() []schema.GroupVersionKind {
	var served []schema.GroupVersionKind
	for _, kind := range kinds {
		for _, version := range kind.versions {
			served = append(served, kind.WithVersion(version))
		}
	}
	return served
}
