// Package history starts Spark's own History Server on the view of an archive. Real drivers write the logs that it shows, and one of them is
// killed. Spark comes from the cache of the local cluster.
package history
