package finding

import "strings"

// Correct returns the remedy for a value that Kubernetes' functions refuse for some reasons. Their examples and expressions are left out.
func Correct(reasons []string) string {
	var short []string
	for _, reason := range reasons {
		reason, _, _ = strings.Cut(reason, " (e.g. ")
		short = append(short, reason)
	}
	return "correct it: " + strings.Join(short, "; ")
}
