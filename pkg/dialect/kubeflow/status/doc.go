// Package status writes the status of an application of sparkoperator.k8s.io from its record, as the Kubeflow operator's
// clients read it. For applications that the Kubeflow operator began, it makes the record from the status.
//
// It is pure.
//
//	status.go                      record to status
//	state.go                       the state that clients see, for each state of the lifecycle
//	error_message.go               the error message of the state
//	executor_state.go              the states of executors
//	conditions.go                  conditions, which the Kubeflow operator does not have
//	ui.go                          the address of the driver's UI
//	kubernetes_events.go           which Kubernetes Events a transition has
//	inherit.go, adopted_driver.go  a status of the Kubeflow operator to a record; which Pod is its driver
package status
