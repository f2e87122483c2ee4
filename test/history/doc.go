// Package history starts Spark's own History Server on the view of an archive. Real drivers write the logs that it shows, or their sidecars send them, and one of them is
// killed. Spark comes from the cache of the local cluster.
//
// It reads the UIs of real drivers through the console, too, page by page, and what the History Server shows when the drivers have ended.
package history
