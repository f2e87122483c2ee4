// Package overview reads what a person wants to see of an object of any kind that Firesteel serves into one shape: its state, why it is in it,
// its attempt, its driver, its executors. It also reads objects that one of the other two operators runs: a status without a record.
//
//	object -> Read -> Object -> Facts -> pkg/diagnosis/why
//
// It is pure: the settings are those of a release without ConfigMaps.
package overview
