// Package sparkoperator names the API group of the Kubeflow Spark operator, formerly Google's, which Firesteel serves.
package sparkoperator

// GroupName is the API group of SparkApplication and ScheduledSparkApplication.
const GroupName = "sparkoperator.k8s.io"
