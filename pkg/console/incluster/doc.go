// Package incluster is the console's view of a cluster: the API server decides who reads what, users act with their own tokens, what runs is followed,
// and the settings name the archives.
//
//	users.go       who a request is from, and what that user may read
//	clients.go     clients with the user's own token
//	namespaces.go  the namespaces that exist now
//	archives.go    the archive of a namespace
//	live.go        what runs, from watches
package incluster
