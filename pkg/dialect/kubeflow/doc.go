// Package kubeflow translates between sparkoperator.k8s.io and Firesteel's own notions: an application's spec to a
// lifecycle policy, a submission plan and the objects beside Spark's own, its record to the status that the Kubeflow
// operator's clients read.
//
// It is pure. What it mirrors is the Kubeflow Spark operator, formerly Google's, and of that the admission webhook, too:
// what the webhook did to a driver's Pod is done to the Pod before it is created, and what it did to executors travels
// in properties and in the pod template that the driver makes them from. Routes lists, field by field, which way each
// takes.
package kubeflow
