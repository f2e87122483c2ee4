// Package sparkcluster reconciles the SparkClusters of spark.apache.org: it observes, has pkg/cluster decide, persists, tells
// of it and acts, as pkg/reconciler/application does for applications.
package sparkcluster
