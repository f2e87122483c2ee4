// Package podtemplate reads the pod templates that applications name by a URL, from locations that the operator
// allows.
//
// Allowed checks what may be read, and Decode reads a template. Keeper has each template read beside the reconciler, once for
// an attempt. Package fetch reads the URLs.
package podtemplate
