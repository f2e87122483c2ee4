// Package fields reads the spec of an application of sparkoperator.k8s.io: into a lifecycle policy, a submission plan, the
// objects beside Spark's own, and messages about what cannot be done. Routes has a row for each field.
//
// It is pure.
package fields
