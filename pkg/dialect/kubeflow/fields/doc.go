// Package fields reads the spec of an application of sparkoperator.k8s.io. It makes of it a lifecycle policy, a submission
// plan, the objects besides Spark's own, and messages about what cannot be done. Routes has a row for each field.
//
// It is pure.
package fields
