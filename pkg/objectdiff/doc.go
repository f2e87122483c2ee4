// Package objectdiff compares objects as JSON with what is planned or was made otherwise.
//
//	Comparable        an object in the cluster without what the API server added: kubectl spark plan --diff
//	DropPodDefaults   a Pod without the defaults of the API server: kubectl spark migrate check, test/parity
//	Differences       how two objects differ, field by field
package objectdiff

// Object is an object as JSON.
type Object = map[string]any
