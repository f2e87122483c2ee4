// Package quantity bounds the quantities that users write, before anything computes with them. Kubernetes' own parser needs seconds for
// 1e-9999999, and practically for ever with some more digits. So do comparisons and sums of such a quantity. No context ends them, so
// a worker would hang.
package quantity

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/firesteel-dev/firesteel/pkg/finding"
)

const (
	// maxLength bounds the characters of a quantity, without surrounding blanks. It also bounds its digits.
	maxLength = 64
	// maxExponent bounds the digits of the exponent, without leading zeros. Kubernetes distinguishes values between 1e-9 and 1e19.
	maxExponent = 2
	// maxCount bounds the quantities in one object.
	maxCount = 4096
)

const remedy = "write one such as 500m, 2, 1.5 or 10Gi"

// Parse parses a bounded quantity. It ignores surrounding blanks, as the API server does.
func Parse(text string) (resource.Quantity, error) {
	text = strings.TrimSpace(text)
	if problem := boundsProblem(text); problem != "" {
		return resource.Quantity{}, &finding.Finding{
			Severity: finding.Error, Value: fmt.Sprintf("%.*s", maxLength, text), Message: problem, Remedy: remedy,
		}
	}
	return resource.ParseQuantity(text)
}

// boundsProblem returns the reason why a text without surrounding blanks is too large to compute with. It returns "" for a bounded
// text, and for a text that is not a quantity, since Kubernetes' parser refuses that at once.
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
