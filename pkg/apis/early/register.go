// Package early names the API group of the early Spark operator, from which today's Kubeflow operator came.
package early

// GroupName is the API group of SparkApplication.
const GroupName = "spark-operator.k8s.io"
