// Package apache translates between spark.apache.org and Firesteel. It turns an application's spec into a lifecycle policy
// and a submission plan. It turns a record into the status that the Apache operator's clients read.
//
// It is pure. It mirrors the Apache Spark Kubernetes operator.
package apache
