// Package npm holds the files of npm packages that the console serves, and that its tests run. packages.json names the packages, their versions and
// checksums; go run ./hack/assets fetches them again.
package npm

import "embed"

// Console are the files that the console serves, and their licences.
//
//go:embed packages.json patternfly red-hat-text red-hat-mono htmx uplot
var Console embed.FS
