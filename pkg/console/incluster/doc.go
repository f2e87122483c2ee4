// Package incluster is the console's view of a cluster: the API server decides who reads what, users act with their own tokens, what runs is followed,
// and the settings name the archives.
package incluster
