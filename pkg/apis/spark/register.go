// Package spark names the API group of the Apache Spark operator, which Firesteel serves.
package spark

// GroupName is the API group of SparkApplication and SparkCluster.
const GroupName = "spark.apache.org"
