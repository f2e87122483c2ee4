// Package controlplane runs a Kubernetes control plane for tests: etcd, an API server with an audit log, and the controllers
// that owner references, quotas, namespaces and service accounts need. Nodes are simulated by kwok or by the test.
package controlplane
