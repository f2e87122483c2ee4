// Package cli is the frame of the command line: the connection to the API server, streams, exit codes, and how results and errors are printed.
// The verbs are in the packages below it, one for each family:
//
//	cmd/kubectl-spark -> root -> offline   plan, lint, convert: pure, without a cluster
//	                          -> submit    spark-submit's command line, and manifests
//	                          -> see       list, get, why, events, logs, ui, top
//	                          -> migrate   check: what a move from another operator meets
//	                          -> act       suspend, resume, rerun, delete, wait, schedule, cluster, namespace
//	                          -> sparkctl  the verbs of an earlier tool, under its name
//
// Each of the first four has a function Commands, which gets the Options of the process. A command returns an error and prints none: Run prints it in one
// line and makes an exit code of it.
package cli
