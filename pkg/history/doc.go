// Package history shows event logs of Spark to Spark's own History Server. The History Server knows one folder and asks for each log by the
// application ID that the log itself names, so logs of two tenants could meet. The view that it gets instead is flat and read-only:
//
//	sources: a bucket into which the drivers of a namespace write     source.go
//	         an archive to which their sidecars send                  archived.go
//	   |  listed again and again
//	   v
//	View: /eventlog_v2_ID/{events_1_ID,appstatus_ID}, ...      view.go, ids.go
//	   |  the event that names the application gets the ID     events.go
//	   v
//	WebHDFS on localhost, whose client each image of Spark has  webhdfs.go
//
// An ID is made of the namespace, a hash of its uid if a sidecar sent the log, and a hash of the namespace and of the place of the log.
// Nothing is copied: a file is read from the bucket while the History Server reads it. A file that is not empty is shown 256 bytes longer than it is
// stored, as room for the event with the ID.
package history
