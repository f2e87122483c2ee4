// Package objectdiff compares two objects as JSON, field by field. It removes what the API server fills in, so that this is no difference. It is
// pure.
//
//	comparable.go    an object in the cluster, without what the API server added to the planned one: kubectl spark plan --diff
//	pod_defaults.go  a Pod without the defaults of the API server: kubectl spark migrate check, test/parity
//	empty.go         an object without empty fields
//	differences.go   how two objects differ
package objectdiff

// Object is an object as JSON.
type Object = map[string]any
