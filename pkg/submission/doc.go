// Package submission builds the Kubernetes objects that start one Spark driver.
//
// It is what `spark-submit --master k8s://... --deploy-mode cluster` does, without a JVM and without a server: a [Plan]
// goes in, the driver Pod and the objects it needs come out.
//
//	Plan ── normalise ──► properties ── feature steps ──► Pod, Service, claims, ... ── config map ──► Objects
//	        (SparkSubmit)               (one file each,                              (properties file)
//	                                     in Spark's order)
//
// If you know Spark's KubernetesDriverBuilder, you find each of its feature steps here in a file with the same name.
// Versions of Spark differ only by [Rules].
//
// Everything is pure: no clock, no randomness, no environment, no API access. The same plan gives the same bytes. Some work
// needs a JVM: upload of client-local files, a user's own feature steps, Kerberos logins. Build refuses it with a
// [finding.Finding] that names the property and the remedy. Nothing is skipped silently.
package submission
