// Package admission answers the API server's questions about objects that users create. It stands between no application and its Pods: its
// webhook configurations select nothing that Firesteel or its drivers create.
//
//	API server --AdmissionReview--> knative.dev/pkg/webhook --> Admit
//	Secret with certificates -----> Reconcile ---------------> caBundle in the webhook configuration
//
//	server.go           the controller of a webhook; configurations.go has what differs between the two kinds
//	certificate.go      the metric of how long the certificate is valid
//	pods.go             Pods of plain spark-submit runs: pkg/podannotations decides
//	validation.go       what users apply: pkg/check decides, by the settings, the labels of the namespace and the caches of quotas.go
//	quotas.go           the ResourceQuotas, the objects that are about to use them, and the classes that change their Pods: read while the setting quota is on
package admission
