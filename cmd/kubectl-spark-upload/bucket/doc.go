// Package bucket writes files to buckets of S3, Google Cloud Storage and Azure, and to folders.
//
//	open.go    the bucket of a URL
//	upload.go  uploads files that are not there
//	content.go reads a file, and notices if it changes meanwhile
//	explain.go errors of the clouds in one line, with what to do
package bucket
