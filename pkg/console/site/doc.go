// Package site puts the console's pages together: sessions, what runs, what each user may see of it, and what is read with the user's own identity.
//
//	site.go      all paths as one handler
//	viewer.go    a session as a viewer of pages
//	drivers.go   where the UIs of drivers are
//	identity.go  reads with the user's own token
//	running.go   what Spark's REST API lists
//	history.go   under which IDs the History Server has event logs
//	archive.go   reads the archive by the console's own API
//	plan.go      compares what runs with what it and the settings make
package site
