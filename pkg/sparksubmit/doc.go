// Package sparksubmit reads the command line of spark-submit, and writes it.
//
//	arguments ── Parse ──► CommandLine ── Resolve ──► Submission ── Apache, Kubeflow, Early ──► manifest
//	                        (options)     (files,         │ ▲
//	                                       environment)   │ └── FromApache ── application
//	arguments ◄────────────────── Arguments ◄─────────────┘
//
// The options, their order of precedence and what they refuse are those of Spark 3.5 to 4.3 in cluster mode on Kubernetes: classes
// SparkSubmitOptionParser, SparkSubmitArguments and SparkSubmit of Spark. What only runs on the host of the command, such as client mode,
// is refused. What a manifest asks for is checked by pkg/check: here only the command line itself is.
//
// The package is pure: files and variables of the environment are read by functions that the caller gives.
package sparksubmit
