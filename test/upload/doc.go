// Package upload checks kubectl-spark-upload with a real server of the S3 protocol, versitygw, which is built from its Go module. A module of its
// own, versitygw, has what that server needs.
package upload
