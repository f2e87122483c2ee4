// Package status is what there is to know of the API of SparkClusters: spec to policy, record to status. It is pure.
//
//	policy.go                 spec to policy
//	status.go, conditions.go  record to status; its conditions
//	rollout.go                whether the Pods match their templates
//	manifest.go               why a cluster is refused; what the rules of the admin read
//	warnings.go               the texts of the condition Warning
//	inherit.go                a status of the Apache operator to a record
package status
