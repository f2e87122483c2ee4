// Package dialect defines what Firesteel needs to know of an API to run its applications, and holds what the APIs have in
// common. Each API is a package below this one. It translates a spec into a lifecycle policy and a submission plan, and a
// record into the status that the clients of that API read.
//
// It is pure.
package dialect
