// Package offline has the verbs that need no cluster: plan, lint and convert.
//
//	file -> pkg/manifest -> pkg/check        what is found about it: lint
//	                     -> pkg/check        what would be created: plan
//	                     -> pkg/convert      the same in another API: convert
//	                     -> pkg/sparksubmit  the same as a command line of Spark: convert
package offline
