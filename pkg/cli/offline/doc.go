// Package offline has the verbs that need no cluster: plan, lint and convert.
//
//	file -> pkg/manifest -> pkg/check        lint: the findings about the manifest
//	                     -> pkg/check        plan: what would be created
//	                     -> pkg/convert      convert: the application in another API
//	                     -> pkg/sparksubmit  convert: the application as a command line of Spark
//
//	commands.go                       the verbs
//	inputs.go                         the flag -f: files, and the objects in them
//	plan.go, diff.go                  plan; its flag --diff
//	lint.go, sarif.go                 lint; one of its formats
//	convert.go, command_line.go       convert; to a command line of spark-submit
//	script.go                         command lines of spark-submit in a script, for convert
package offline
