// Package podtemplate has the rules of the pod templates that applications name by a URL: Allowed checks which locations the admin allows,
// and Decode decodes a template. It is pure: package fetch reads the URLs, and its Keeper has each template read beside the reconciler, once
// for an attempt.
package podtemplate
