// Package cli is the frame of the command line: the connection to the API server, streams, exit codes, and how results and errors are printed.
// The verbs are in the packages below it, one for each family:
//
//	cmd/kubectl-spark -> root -> offline   plan, lint, convert: without a cluster
//	                          -> submit    spark-submit's command line, and manifests
//	                          -> see       list, get, why, events, logs, ui, top, usage
//	                          -> console   console: pages in the browser
//	                          -> migrate   check: what a move from another operator meets
//	                          -> act       suspend, resume, stop, rerun, delete, wait, schedule, cluster, namespace
//	                          -> sparkctl  the verbs of an earlier tool, under its name
//
// These packages share: target finds the object that a user names; settings reads the settings by which commands judge; tunnel forwards a port;
// upload sends files.
//
// Each family but sparkctl has a function Commands, which gets the Options of the process. A command returns its error and does not print it: Run
// prints it in one line, and returns the exit code.
//
//	run.go                                runs a verb: prints its error, returns the exit code
//	options.go                            the flags of the connection, and the clients
//	output.go                             the flag -o, and how results are printed
//	errors.go                             the kinds of errors, and the exit code of each
//	connection_errors.go, flag_errors.go  errors of the connection and of flags, in plain words
package cli
