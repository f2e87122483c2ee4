// Package parity proves that Firesteel makes what real spark-submit makes, on every line of Spark.
//
//	                 real spark-submit ── real API server ── read back ──► testdata/<version>/<case>.yaml
//	table of cases <                                                                  │ compare
//	                 submission.Build ────────────────────────────────────────────────┤
//	                 manifest ── Plan of an API ── submission.Build ── Complete ──────┘
//
// The cases ([Cases]) are a table, draws from a table of keys, and single odd values. `make parity` runs spark-submit of
// each version in test/parity/record, fails if it does otherwise than recorded, and has the same API server complete
// Firesteel's objects, too; `make parity RECORD=all` writes the recordings, RECORD=missing those that there are none of.
// `go test` compares with the recordings and needs nothing but Go.
//
// A recording holds what the API server returned, so with its defaults. Both sides are brought to one form before they
// are compared ([Normal]): what the server adds by itself is taken off where it is the default and filled in where
// one field takes the value of another; what is random gets a fixed text; maps that Spark walks in arbitrary order are
// sorted. Two objects of the same form are the same to the server.
//
// Each case is compared as a plan, and as an application that a user writes in the API of each operator. Of that the
// same objects must come, with what that operator adds to them, which [Recording.Apache], [Recording.Kubeflow] and
// [Recording.Early] say; and a refusal must name what the manifest holds.
//
// Executors are made by the driver, of properties and of a template that Firesteel gives it. For each field that the
// Kubeflow operator's API has for them ([ExecutorCases]) Spark's own builder makes one of what Firesteel gives, in one JVM
// for all of a version; the API server must take it, it is recorded in testdata/executors with what it was made of, and it
// either shows what the field asks for or the application's condition Warning names the field.
//
// Where Firesteel differs on purpose, deviations.yaml says so and why. A deviation that nothing needs fails the test.
//
// Nothing is fetched from a network. Packages are those of a small repository of the recorder's own, and a stub stands
// for stores of files whose clients Spark's archives lack.
package parity
