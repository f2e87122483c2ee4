// Package controlplane runs a Kubernetes control plane without nodes, for tests: etcd, an API server that keeps an
// audit log, and of the controller manager what owner references, quotas, namespaces and service accounts need.
package controlplane
