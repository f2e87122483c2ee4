// Package migrate has the verb migrate check: what a move from the Kubeflow or the Apache operator to Firesteel would meet in this cluster.
// It only reads: pkg/migration decides. If the user may not read something, the report names it, and the check goes on.
//
//	command.go      the verb
//	read.go         the order of reading; other operators, and the settings that take the place of theirs
//	objects.go      objects of all kinds, and drivers that run
//	webhooks.go     webhooks that are called for drivers and applications
//	definitions.go  CRDs that have the names of Firesteel's
//	accounts.go     service accounts of drivers
//	print.go        the migration.Report as text, JSON or YAML
package migrate
