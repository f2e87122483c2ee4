// Package fetch reads pod templates by https, from buckets of S3, Google Cloud Storage and Azure with the credentials that the operator runs
// with, and from ConfigMaps of the operator's namespace. Whatever the scheme, a template is read by one GET. A Keeper reads them beside the
// reconciler, and stores each for the attempt that asked for it.
//
//	remote.go               Fetch: one GET, its bounds, and which failures are final
//	s3.go, gs.go, azure.go  the requests to each cloud, with credentials
//	configmap.go            a template in a ConfigMap
//	keeper.go               reads beside the reconciler, and stores templates by attempt
package fetch
