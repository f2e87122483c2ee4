// Package parity proves that Firesteel makes what real spark-submit makes, on every line of Spark.
//
//	                 real spark-submit ── real API server ── read back ──► testdata/<version>/<case>.yaml
//	table of cases <                                                                  │ compare
//	                 submission.Build ────────────────────────────────────────────────┤
//	                 manifest ── Plan of an API ── submission.Build ── Complete ──────┘
//
// The cases ([Cases]) are a table, random choices from a table of keys, and single odd values. `make parity` runs spark-submit of
// each version in test/parity/record, and fails if its objects differ from the recordings. The same API server completes
// Firesteel's objects, too. `make parity RECORD=all` writes all recordings, RECORD=missing only the missing ones.
// `go test` compares with the recordings and needs nothing but Go.
//
// A recording holds what the API server returned, with its defaults. Both sides are normalised before they
// are compared ([Normal]). Defaults of the server are removed. If the server copies a field to another one, the copy is filled in.
// Random values get a fixed text. Maps that Spark reads in arbitrary order are sorted. Two objects with the same normal form are the
// same to the server.
//
// Each case is compared as a plan, and as an application that a user writes in the API of each operator. Such an application must
// give the same objects, and what that operator adds to them: [Recording.Apache], [Recording.Kubeflow] and
// [Recording.Early] have that. A refusal must name the field of the manifest.
//
// The driver makes executors, from properties and a template that Firesteel gives it. For each field that the
// Kubeflow operator's API has for executors ([ExecutorCases]), Spark's own builder makes an executor from what Firesteel gives. One JVM
// does this for all cases of a version. The API server must accept the executor. It is recorded in testdata/executors, together with its
// input. Either the executor shows what the field asks for, or the application's condition Warning names the field.
//
// Each case is given as the command line of spark-submit, too (pkg/sparksubmit), and must become the same application. What options,
// files and variables a command line may have is in a table of its own ([Lines]): testdata/lines holds what spark-submit reads of each.
//
// Where Firesteel differs on purpose, deviations.yaml says so and why. A deviation that nothing needs fails the test.
//
// Nothing is fetched from a network. Packages come from a small repository of the recorder, and a stub replaces the clients of file
// stores that Spark's archives lack.
package parity
