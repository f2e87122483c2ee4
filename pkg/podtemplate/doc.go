// Package podtemplate reads the pod templates that applications name by a URL, from locations that the operator
// allows.
//
// Allowed says what may be read, Decode what a template is, and Keeper has each read beside the reconciler, once for an
// attempt. How a URL is read is the business of pkg/podtemplate/fetch.
package podtemplate
