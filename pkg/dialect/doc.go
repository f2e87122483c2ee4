// Package dialect says what Firesteel has to know of an API to run its applications, and holds what the APIs have in
// common. Each API is a package below this one that translates: a spec to a lifecycle policy and a submission plan, a
// record to the status that the clients of that API read.
//
// It is pure.
package dialect
