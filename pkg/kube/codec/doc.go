// Package codec decodes what the API server sends and what users wrote.
//
// Decode decodes an object by its type. It never fails because of a user's mistake: an object that cannot be decoded has its
// metadata, its record and a message, so that one such object does not keep a list from being served. The UnmarshalJSON methods
// of the API types call it, so every path of decoding does the same: lists, watches, fake clients, json.Unmarshal.
//
// Kind chooses how clients find the objects in a response. Kubernetes' own codec reads the whole JSON of an object to learn its
// kind, again for the frame of a watch, twice to find the end of the frame, and once more before it calls UnmarshalJSON. Firesteel's
// codec reads the kind at the beginning, where the API server writes it, and leaves any other JSON to Kubernetes' codec.
// docs/adr/0011-own-watch-codec.md has the measurements; BenchmarkWatch repeats them. WATCH_CODEC=kubernetes switches
// Firesteel's codec off.
//
//	decode.go          decodes an object, also one with mistakes
//	wrong_types.go     names each value of a wrong type
//	weight.go          refuses what would take too much memory
//	properties.go      properties whose values are no texts
//	repeated.go        removes values from a decoder's message that may be secrets
//	unknown.go         fields that this version does not know, so that they survive
//	managed_fields.go  decodes without metadata.managedFields
//	kind.go            which codec clients use
//	watch.go           Firesteel's own codec of watches
package codec
