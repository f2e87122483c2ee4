// Package bucket writes files to buckets of S3, Google Cloud Storage and Azure, and to folders.
//
//	open.go    the bucket of a URL
//	upload.go  uploads files that are not stored yet
//	content.go reads a file, and fails if it has changed
//	explain.go errors of the clouds in one line, with the remedy
package bucket
