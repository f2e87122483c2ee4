// Package names holds the Kubeflow operator's names of objects, labels, submissions and of the driver's UI.
//
// It is pure.
package names
