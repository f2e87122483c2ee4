package submission

import (
	"errors"
	"math"
	"regexp"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/firesteel-dev/firesteel/internal/lazy"
	"github.com/firesteel-dev/firesteel/pkg/quantity"
)

var (
	booleans     = format[bool]{parseBoolean, "is neither true nor false", "write true or false"}
	integers     = format[int]{parseInteger, "is not a whole number of 32 bits", "write one such as 10"}
	counts       = format[int]{parseCount, "is not a whole number from 0 on", "write one such as 1"}
	positives    = format[int]{parsePositive, "is not a positive whole number", "write a whole number from 1 on"}
	nonNegatives = format[float64]{parseFactor, "is not a number from 0 on", "write a fraction such as 0.1"}
	aboveZero    = format[float64]{parseAboveZero, "is not a number above 0", "write a fraction such as 0.1"}
	quantities   = format[resource.Quantity]{
		parseQuantity, "is not a Kubernetes quantity", "write one such as 500m, 2 or 10Gi",
	}
)

func parseBoolean(text string) (value, ok bool) {
	switch strings.ToLower(text) {
	case "true":
		return true, true
	case "false":
		return false, true
	default:
		return false, false
	}
}

// parseInteger parses a whole number. Spark's are 32 bits wide.
func parseInteger(text string) (int, bool) {
	number, err := strconv.ParseInt(text, 10, 32)
	return int(number), err == nil
}

func parseCount(text string) (int, bool) {
	number, ok := parseInteger(text)
	return number, ok && number >= 0
}

func parsePositive(text string) (int, bool) {
	number, ok := parseInteger(text)
	return number, ok && number > 0
}

// javaNumber matches what Java's Double.parseDouble accepts. Go does not accept some of it, such as suffixes, and accepts
// more, such as 1_0 and inf.
var javaNumber = lazy.Regexp(
	`^([+-]?(?:NaN|Infinity|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)[pP][+-]?\d+))[fFdD]?$`)

func parseFactor(text string) (float64, bool) {
	found := javaNumber().FindStringSubmatch(text)
	if found == nil {
		return 0, false
	}
	number, err := strconv.ParseFloat(found[1], 64)
	// A number that is too large is infinite, as in Java.
	return number, (err == nil || errors.Is(err, strconv.ErrRange)) && number >= 0
}

func parseAboveZero(text string) (float64, bool) {
	number, ok := parseFactor(text)
	return number, ok && number > 0
}

func parseQuantity(text string) (resource.Quantity, bool) {
	parsed, err := quantity.Parse(text)
	return parsed, err == nil && parsed.Sign() >= 0
}

const mebibyte = 1 << 20

var sizeText = regexp.MustCompile(`^([0-9]+)([a-z]+)?$`)

// sizeUnits are the first letters of Spark's units as powers of 1024. Spark has no decimal units.
var sizeUnits = map[string]int{"k": 1, "m": 2, "g": 3, "t": 4, "p": 5}

// sizes parses memory sizes, in bytes. A number without a unit counts MiB, as in all properties that are read here.
func sizes(rules Rules) format[int64] {
	return format[int64]{
		parse:   func(text string) (int64, bool) { return parseSize(text, rules.BinaryUnits) },
		problem: "is not a size",
		remedy:  "write a whole number with a unit, such as 512m or 4g",
	}
}

func parseSize(text string, binaryUnits bool) (int64, bool) {
	found := sizeText.FindStringSubmatch(strings.ToLower(trimmed(text)))
	if found == nil {
		return 0, false
	}
	unit, known := unitBytes(found[2], binaryUnits)
	number, err := strconv.ParseInt(found[1], 10, 64)
	if !known || err != nil || number > math.MaxInt64/unit {
		return 0, false
	}
	return number * unit, true
}

func unitBytes(unit string, binaryUnits bool) (int64, bool) {
	switch unit {
	case "":
		return mebibyte, true
	case "b":
		return 1, true
	}
	letter := strings.TrimSuffix(unit, "b")
	if binaryUnits {
		letter = strings.TrimSuffix(letter, "i")
	}
	power, known := sizeUnits[letter]
	return 1 << (10 * power), known
}

// javaDouble returns a number as Java's Double.toString does: 0.1, 1.0, 1.0E-4. The driver's properties hold such
// text.
func javaDouble(number float64) string {
	if math.IsInf(number, 1) {
		return "Infinity"
	}
	if number == 0 || number >= 1e-3 && number < 1e7 {
		return withFraction(strconv.FormatFloat(number, 'f', -1, 64))
	}
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(number, 'E', -1, 64), "E")
	power, _ := strconv.Atoi(exponent)
	return withFraction(mantissa) + "E" + strconv.Itoa(power)
}

func withFraction(decimal string) string {
	if strings.Contains(decimal, ".") {
		return decimal
	}
	return decimal + ".0"
}
