// Package admission answers the API server's questions about objects that users create. It stands between no application and its Pods: its
// webhook configurations select nothing that Firesteel or its drivers create.
//
//	API server --AdmissionReview--> knative.dev/pkg/webhook --> Admit     a decision of a pure package
//	Secret with certificates -----> Reconcile ---------------> caBundle in the webhook configuration
package admission
