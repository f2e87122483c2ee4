// Package quantity keeps quantities that users wrote from taking hours to read. Kubernetes' own reader takes seconds for
// 1e-9999999, and with some digits more as good as for ever, in which nothing else of a program would go on.
package quantity

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/json"
)

// longExponent is one that no quantity needs. Kubernetes takes it without a number before it as well.
var longExponent = regexp.MustCompile(`^\s*[+-]?[0-9.]*[eE][+-]?0*[1-9][0-9]{2,}\s*$`)

// Parse reads a quantity, and passes over blanks around it, as the API server does.
func Parse(text string) (resource.Quantity, error) {
	if longExponent.MatchString(text) {
		return resource.Quantity{}, tooLong(text)
	}
	return resource.ParseQuantity(strings.TrimSpace(text))
}

// Check refuses JSON that is to be decoded into an object of Kubernetes and holds such a text, wherever it is.
func Check(data []byte) error {
	if !mayHoldLongExponent(data) {
		return nil
	}
	var object any
	if err := json.UnmarshalCaseSensitivePreserveInts(data, &object); err != nil {
		return fmt.Errorf("decode: %w", err)
	}
	if text := deeplyNegative(object); text != "" {
		return tooLong(text)
	}
	return nil
}

func tooLong(text string) error { return fmt.Errorf("%q has too long an exponent", text) }

// digits is how many an exponent has with which reading takes milliseconds, and one digit more is many times that.
// Texts that are no quantities, such as an application's arguments, have fewer.
const digits = 6

// mayHoldLongExponent is quick, since all that is read comes by here. Many a name ends like an exponent: "pipe-20261122".
func mayHoldLongExponent(data []byte) bool {
	for rest := data; ; {
		at := bytes.IndexByte(rest, '-')
		if at < 0 {
			return false
		}
		after := rest[at+1:]
		if at > 1 && rest[at-1]|0x20 == 'e' && ofNumber(rest[at-2]) && len(after) >= digits && onlyDigits(after[:digits]) {
			return true
		}
		rest = after
	}
}

func ofNumber(r byte) bool { return r == '.' || '0' <= r && r <= '9' }

func onlyDigits(text []byte) bool {
	return !bytes.ContainsFunc(text, func(r rune) bool { return r < '0' || r > '9' })
}

var negativeExponent = regexp.MustCompile(fmt.Sprintf(`^\s*[+-]?[0-9.]+[eE]-[0-9]{%d,}\s*$`, digits))

// deeplyNegative returns a text with such an exponent that a value holds, if it holds any. Exponents above zero are
// read quickly, whatever their length.
func deeplyNegative(value any) string {
	switch value := value.(type) {
	case string:
		return negativeExponent.FindString(value)
	case []any:
		for _, entry := range value {
			if text := deeplyNegative(entry); text != "" {
				return text
			}
		}
	case map[string]any:
		for _, entry := range value {
			if text := deeplyNegative(entry); text != "" {
				return text
			}
		}
	}
	return ""
}
