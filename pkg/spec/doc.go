// Package spec tells whether an object's spec is still the one that its attempt is of. It is pure.
//
// A record names the spec of its attempt by a hash, the version of the encoding that was hashed, and metadata.generation. So
// another version of Firesteel, a newer Kubernetes library or a new default of a CustomResourceDefinition is never taken for an
// edit:
//
//	generation is the same       no edit, whatever the hashes are
//	the version is known         an edit if the hash by that version differs
//	neither                      nobody can tell: the spec is adopted, and a Kubernetes Event says so
package spec
