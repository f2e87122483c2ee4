// Package kube has the clients of the API server: the generated ones of all kinds with one transport and codec, one typed adapter
// for objects that share an interface, and informers: what they list, their errors, how their objects come and go, and watches that
// list again after the API server was away.
//
// apierror distinguishes terminal errors from others, and codec decodes.
package kube
