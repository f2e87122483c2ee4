// Package admission answers the API server's requests about objects that users create or edit. Its webhook configurations select nothing that
// Firesteel or its drivers create: so no webhook is between an application and its Pods.
//
//	API server --AdmissionReview--> knative.dev/pkg/webhook --> Admit
//	Secret with certificates -----> Reconcile ---------------> caBundle in the webhook configuration
//
// knative.dev/pkg/webhook/certificates, which cmd/webhook starts, makes and renews the certificates.
//
//	server.go              the controller of a webhook; configurations.go has what differs between the two kinds
//	certificate_metric.go  the metric of how long the certificate is valid
//	pods.go                Pods of plain spark-submit runs: pkg/podannotations decides
//	validation.go          what users apply: pkg/check decides, with the settings, the labels of the namespace and the caches of quotas.go
//	quotas.go              the caches of ResourceQuotas, and of the objects that are about to use them, while the setting quota is on
package admission
