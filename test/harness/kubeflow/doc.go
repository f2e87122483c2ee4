// Package kubeflow runs the Kubeflow operator as a process. It is built from its Go module, by the go.mod of the folder operator,
// so that its dependencies are not Firesteel's.
//
// The operator submits by spark-submit, a program in Java. The program sparksubmit stands in for it: it creates the driver Pod from
// the same arguments. What real spark-submit creates is compared in test/parity.
package kubeflow
