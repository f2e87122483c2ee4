// Package upload uploads files of this machine to where drivers can read them. A program of its own sends them: see pkg/upload. Only files
// for a claim are sent by this one.
//
//	flags.go     --upload-to and --upload-as
//	place.go     where files are sent, and where Spark reads them
//	spark.go     the property with which spark-submit uploads
//	plan.go      which files are sent, by their content
//	send.go      runs the program
//	claim.go     stores files in a claim, by a short-lived Pod
//	progress.go  prints what it does
package upload
