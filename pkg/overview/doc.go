// Package overview reads an object of any kind that Firesteel serves into one type, Object: its state and the reason, its attempt, its driver, its
// executors. It also reads objects that another operator runs: a status without a record.
//
//	overview.go  object -> Read -> Object
//	states.go    the states and phases that users name
//	pods.go      the Pods of an Object
//	facts.go     Object, Pods -> Facts -> pkg/diagnosis/why
//
// It is pure: the settings are those of a release without ConfigMaps.
package overview
