// Package sparksubmit reads the command line of spark-submit, and writes it.
//
//	arguments ── Parse ──► CommandLine ── Resolve ──► Submission ── Apache, Kubeflow, Early ──► manifest
//	                        (options)     (files,         │ ▲
//	                                       environment)   │ └── FromApache ── application
//	arguments ◄───────────────────── Line ◄───────────────┘
//
// The options, their order of precedence and what they refuse are those of Spark 3.5 to 4.3 in cluster mode on Kubernetes: classes
// SparkSubmitOptionParser, SparkSubmitArguments and SparkSubmit of Spark. What can only run on the host of the command, such as client mode,
// is refused. This package checks only the command line: pkg/check checks the application.
//
// The package is pure: the caller gives the functions that read files and environment variables.
//
//	options.go                                  the options of spark-submit
//	parse.go                                    Parse
//	resolve.go, properties_file.go, folders.go  Resolve
//	manifest.go, config_maps.go, name.go        a submission as an application
//	located.go                                  findings with options in the place of fields
//	claim_mounts.go                             claims that a driver mounts
//	local_files.go, manifest_files.go           files of this machine, that a command line or a manifest names
//	from_apache.go, line.go                     an application as a command line
//	script.go, script_word.go, script_parse.go  command lines in shell scripts
package sparksubmit
