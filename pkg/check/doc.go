// Package check reports everything that is found about a manifest of any kind that Firesteel serves, before anything runs: errors, for which
// the controller would refuse it, and warnings, which the condition Warning would show. It is pure. The webhook asks it about what users
// apply. The controller asks the same functions when it acts:
//
//	manifest --Decode--> object --Examine--> findings, and what its Pods ask of quotas
//	                                |
//	                                +-- application   dialect.Check                 the controller's launch: dialect.Build, LaunchWarnings
//	                                +-- schedule      variant.PolicyOf, and its template as an application
//	                                +-- cluster       resources.Build, status.Invalid, status.Warnings
//
// Examine knows of an object that cannot be decoded only the decoder's text. With the manifest, ExplainUndecodable names each value of a wrong type.
//
//	decode.go                  a manifest to an object
//	check.go                   Examine: everything that is found
//	wrong_types.go, partly.go  of a manifest that cannot be decoded: which values are wrong, and what else is found
//	objects.go                 Create: the objects that would be created
//	version.go                 sets another version of Spark
package check
