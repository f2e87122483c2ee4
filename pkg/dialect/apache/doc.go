// Package apache translates between spark.apache.org and Firesteel's own notions: an application's spec to a
// lifecycle policy and a submission plan, its record to the status that the Apache operator's clients read.
//
// It is pure. What it mirrors is the Apache Spark Kubernetes operator.
package apache
