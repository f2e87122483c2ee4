// Package quantity bounds the quantities that users write before anything computes with them. Kubernetes' own reader takes
// seconds for 1e-9999999 and as good as for ever with some digits more, and so do comparisons and sums of what it read.
// Nothing else of the process would be served meanwhile, since no context ends them.
package quantity

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

const (
	// maxLength is how many characters a quantity may have, without blanks around it. Its digits are bounded with it.
	maxLength = 64
	// maxExponent is how many digits the exponent may have, without zeros before it: what Kubernetes can tell apart is between
	// 1e-9 and 1e19.
	maxExponent = 2
	// maxCount is how many quantities an object may hold.
	maxCount = 4096
)

const remedy = "write one such as 500m, 2, 1.5 or 10Gi"

// Parse reads a quantity that is bounded, and passes over blanks around it, as the API server does.
func Parse(text string) (resource.Quantity, error) {
	text = strings.TrimSpace(text)
	if problem := boundsProblem(text); problem != "" {
		return resource.Quantity{}, fmt.Errorf("%.*q %s: %s", maxLength, text, problem, remedy)
	}
	return resource.ParseQuantity(text)
}

// boundsProblem says what of a text without blanks around it is too large to compute with; empty if nothing is. What is no
// quantity at all is left to Kubernetes' reader, which refuses it at once.
func boundsProblem(text string) string {
	if len(text) > maxLength {
		return fmt.Sprintf("is a quantity of %d characters, and one may have %d", len(text), maxLength)
	}
	at := strings.IndexAny(text, "eE")
	if at < 0 {
		return ""
	}
	digits := strings.TrimLeft(strings.TrimLeft(text[at+1:], "eE+-"), "0")
	if len(digits) > maxExponent {
		return fmt.Sprintf("is a quantity with an exponent of %d digits, and it may have %d", len(digits), maxExponent)
	}
	return ""
}
