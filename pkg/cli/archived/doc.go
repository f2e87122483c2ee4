// Package archived finds in the archive what is gone from the cluster, for the verbs that read.
//
//	flags.go       --console and --archive, and which console is asked
//	console.go     the connection to a console: with the user's own token
//	direct.go      the program that reads an archive with the user's own credentials
//	application.go an application of the archive: its object, its Pods, Events and logs
//
// It asks a console only after the API server has said that there is no such object, or for list --ended.
package archived
