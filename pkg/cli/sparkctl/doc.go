// Package sparkctl has the command line of the Kubeflow operator's earlier tool of that name: its verbs, letters and columns, for scripts that use
// them. Its verbs call the packages of kubectl spark.
//
//	root.go     the root command, and the verbs that need no file of their own
//	create.go   create: a manifest, or a run of a schedule; hadoop.go makes a ConfigMap of Hadoop's configuration, uploads.go has the flags of uploads
//	status.go   list and status; table.go prints them
//
// Four things are different, because scripts had to work around them:
//
//   - A verb that fails has an exit code.
//   - create --delete and delete wait until the object is gone.
//   - log -e prints the log of an executor.
//   - A verb that waits uses watches and does not poll.
package sparkctl
