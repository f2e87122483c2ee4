// Package incluster is the console's view of a cluster: the API server decides who reads what, and the settings name the archives.
package incluster
