// Package sparkapplication reconciles the SparkApplications of spark.apache.org: it reads from informers, asks
// pkg/lifecycle and pkg/submission what follows, and carries it out.
package sparkapplication
