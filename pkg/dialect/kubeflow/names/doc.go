// Package names has the Kubeflow operator's names: of objects, of labels, of submissions and of the driver's UI.
//
// It is pure.
package names
