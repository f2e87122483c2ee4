// Package parity proves that pkg/submission makes what real spark-submit makes, on every line of Spark.
//
//	                 real spark-submit ── real API server ── read back ──► testdata/<version>/<case>.yaml
//	table of cases <                                                                  │ compare
//	                 submission.Build ────────────────────────────────────────────────┘
//
// The cases are a table ([Cases]) and draws from a table of keys. `make parity` runs spark-submit of each version in
// test/parity/record, fails where it does otherwise than recorded, and has the same API server complete Firesteel's
// objects, too; `make parity RECORD=all` writes the recordings, RECORD=missing those that there are none of. `go test`
// compares with the recordings and needs nothing but Go.
//
// A recording holds what the API server returned, so with its defaults. Both sides are brought to one form before they
// are compared ([Normal]): what the server adds by itself is taken off where it is the default and filled in where
// one field takes the value of another; what is random gets a fixed text; maps that Spark walks in arbitrary order are
// sorted. Two objects of the same form are the same to the server.
//
// Where Firesteel differs on purpose, deviations.yaml says so and why. A deviation that nothing needs fails the test.
//
// Not covered is what spark-submit does only with the network: spark.jars.packages, which it resolves before it
// submits, and lists of files of stores whose client its archive lacks.
package parity
