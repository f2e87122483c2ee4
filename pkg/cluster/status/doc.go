// Package status is what there is to know of the API of SparkClusters: spec to policy, record to status. It is pure.
package status
