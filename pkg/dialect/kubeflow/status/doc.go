// Package status writes the status of an application of sparkoperator.k8s.io from its record, as the Kubeflow operator's
// clients read it. For applications that the Kubeflow operator began, it makes the record from the status.
//
// It is pure.
package status
