// Package podsecurity completes Pods for the restricted profile of the Pod Security Standards, and reports what of a Pod breaks that
// profile.
package podsecurity
