// Package metrics has what the metrics of several kinds share. Its test writes the reference page of all metrics, and checks
// that the page matches the code. The metrics themselves are in the packages below, with four exceptions. These measure the state of one
// package alone, and are beside that state:
//
//	pkg/events           events that are sent, refused and pending, and handlers that are asked
//	pkg/crds/skew        CRDs of another version
//	pkg/kube/namespaced  listed namespaces that cannot be read
//	pkg/admission        the certificate of the webhook
package metrics
