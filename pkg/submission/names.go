package submission

import (
	"regexp"
	"strings"
)

// maxLabel is the longest label value and DNS label that Kubernetes allows.
const maxLabel = 63

var (
	notInName = regexp.MustCompile(`[^a-z0-9-]`)
	hyphens   = regexp.MustCompile(`-+`)
)

// ResourceNamePrefix returns the prefix that Spark gives to the names of an attempt's objects: the application's name made
// valid, a hyphen, and unique. Its length is not limited. It mirrors KubernetesConf.getResourceNamePrefix.
func ResourceNamePrefix(appName, unique string) string {
	prefix := strings.TrimPrefix(dashed(appName+"-"+unique), "-")
	if prefix != "" && prefix[0] >= '0' && prefix[0] <= '9' {
		// Spark replaces the digit by x. It does not add the x before the digit.
		return "x" + prefix[1:]
	}
	return prefix
}

// appNameLabel returns the value of the label spark-app-name: at most 63 characters, possibly empty. It mirrors
// KubernetesConf.getAppNameLabel.
func appNameLabel(appName string) string {
	label := dashed(appName)
	label = label[:min(len(label), maxLabel)]
	return strings.TrimSuffix(strings.TrimPrefix(label, "-"), "-")
}

// dashed returns text in lower case. Each run of characters other than letters, digits and hyphens becomes one hyphen.
func dashed(text string) string {
	// In Java, the dotted capital I is two characters in lower case. In Go it is one.
	lower := strings.ToLower(strings.ReplaceAll(trimmed(text), "İ", "i\u0307"))
	return hyphens.ReplaceAllString(notInName.ReplaceAllString(lower, "-"), "-")
}
