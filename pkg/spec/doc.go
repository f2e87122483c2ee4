// Package spec reports whether an object's spec was edited since its attempt began. It is pure.
//
// A record names the spec of its attempt by a hash, the version of the encoding that was hashed, and metadata.generation. So
// another version of Firesteel, a newer Kubernetes library or a new default of a CustomResourceDefinition is never taken for an
// edit:
//
//	generation is the same       no edit, whatever the hashes are
//	the version is known         an edit if the hash by that version differs
//	neither                      unknown: the spec is adopted, and a Kubernetes Event says so
package spec
