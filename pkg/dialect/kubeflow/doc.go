// Package kubeflow is the dialect of sparkoperator.k8s.io, the API of the Kubeflow Spark operator, formerly Google's.
//
//	names      what the Kubeflow operator calls things: objects, labels, submission IDs, the UI's address; the roles of Pods
//	settings   what the ConfigMap config-kubeflow says about these applications
//	fields     spec -> lifecycle policy, submission plan, objects beside Spark's own, warnings and refusals
//	status     record -> status, conditions and Kubernetes Events; the Kubeflow operator's status -> record
//
// It is pure. It mirrors the Kubeflow operator and its admission webhook: Pods get what that webhook gave them, but before
// they are created. fields.Routes lists, field by field, which way each takes.
package kubeflow
