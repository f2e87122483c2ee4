// Package offline has the verbs that need no cluster: plan, lint and convert.
//
//	file -> pkg/manifest -> pkg/check        what is found about it: lint
//	                     -> pkg/check        what would be created: plan
//	                     -> pkg/convert      the same in another API: convert
package offline
