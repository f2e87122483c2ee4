// Package kubernetes has the metrics that the components of Kubernetes have, under their names: workqueue_*, rest_client_* and
// leader_election_*. Dashboards and alerts for controllers read them. They are collected beside those that Knative makes of the same
// queues and requests. client-go and Knative each take one provider for each process, and take the first.
package kubernetes
