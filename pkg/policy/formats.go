package policy

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/firesteel-dev/firesteel/internal/lazy"
)

// The formats are the same in Go and in CEL: both have the regular expressions of RE2, and numbers are floats where they could overflow.
const (
	wholeNumberPattern = `^[0-9]{1,9}$`
	coresPattern       = `^[0-9]{1,9}([.][0-9]{1,9})?m?$`
	factorPattern      = `^[0-9]{1,9}([.][0-9]{1,9})?$`
	// sizePattern are the sizes of Spark. Those with an i are of Spark 4.
	sizePattern = `^[0-9]{1,15}([bB]|[kKmMgGtTpP]([iI]?[bB])?)?$`
	// registryPattern matches an image that names its registry. Container runtimes treat the first part as a host if it has a period, a port or a
	// capital letter.
	registryPattern = `^([^/]*[.:A-Z][^/]*|localhost)/`
	// imagePattern matches an image whose registry no replacement can change. Submissions replace ${references}, and {{SPARK_VERSION}}, which is allowed
	// in the tag only.
	imagePattern = `^[^${}]*(:[^/$]*)?$`
	// keyPattern is an entry of a list of Spark properties, labelPattern one of a list of labels.
	keyPattern   = `^spark[.][^*]*[*]?$`
	labelPattern = `^(` + dnsLabel + `([.]` + dnsLabel + `)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$`
	dnsLabel     = `[a-z0-9]([-a-z0-9]*[a-z0-9])?`
)

const mebibyte = 1 << 20

// maxText bounds the characters of a value that a rule parses: the API server aborts a policy whose expressions cost too much. A longer value breaks
// the rule.
const maxText = 1024

// parsed reports whether a rule parses a value.
func parsed(text string) bool { return utf8.RuneCountInString(text) <= maxText }

// celParsed is the same in CEL.
func celParsed(text string) string { return fmt.Sprintf("size(%s) <= %d", text, maxText) }

var (
	cores  = lazy.Regexp(coresPattern)
	factor = lazy.Regexp(factorPattern)
	size   = lazy.Regexp(sizePattern)

	registry = lazy.Regexp(registryPattern)
	plain    = lazy.Regexp(imagePattern)
)

// units are the first letters of the units of sizes. A number without a unit is of MiB.
var units = []struct {
	letter string
	bytes  float64
}{
	{"", 1 << 20}, {"b", 1}, {"k", 1 << 10}, {"m", 1 << 20}, {"g", 1 << 30}, {"t", 1 << 40}, {"p", 1 << 50},
}

// coresOf parses a number of cores, such as 2, 0.5 or 500m.
func coresOf(text string) (number float64, ok bool) {
	if !cores().MatchString(text) {
		return 0, false
	}
	digits, milli := strings.CutSuffix(text, "m")
	number, err := strconv.ParseFloat(digits, 64)
	if milli {
		number /= 1000
	}
	return number, err == nil
}

// celCores is the same for a text that has the format.
func celCores(text string) string {
	return fmt.Sprintf("(%[1]s.endsWith('m') ? double(%[1]s.replace('m', '')) / 1000.0 : double(%[1]s))", text)
}

// sizeOf parses a size as Spark does, in bytes.
func sizeOf(text string) (bytes float64, ok bool) {
	text = strings.TrimSpace(text)
	if !size().MatchString(text) {
		return 0, false
	}
	digits := strings.TrimRight(text, "bBkKmMgGtTpPiI")
	number, err := strconv.ParseFloat(digits, 64)
	letter := strings.ToLower(text[len(digits):])
	for _, unit := range units {
		if letter == unit.letter || len(letter) > 1 && letter[:1] == unit.letter {
			return number * unit.bytes, err == nil
		}
	}
	return 0, false
}

// celSize is the same for a text that has the format.
func celSize(text string) string {
	var entries []string
	for _, unit := range units {
		entries = append(entries, fmt.Sprintf("'%s': %.1f", unit.letter, unit.bytes))
	}
	return fmt.Sprintf("double(%[1]s.find('[0-9]+')) * {%[2]s}[%[1]s.find('[a-zA-Z]*$').lowerAscii().find('^.?')]", text, strings.Join(entries, ", "))
}

// hasRegistry reports whether an image names its registry.
func hasRegistry(image string) bool { return registry().MatchString(image) }

// withRegistry returns an image with its registry, as container runtimes complete it.
func withRegistry(image string) string {
	switch {
	case hasRegistry(image):
		return image
	case strings.Contains(image, "/"):
		return "docker.io/" + image
	default:
		return "docker.io/library/" + image
	}
}

// fromRegistry reports whether an image is of one of the registries or repositories.
func fromRegistry(image string, entries []string) bool {
	if !parsed(image) || !plain().MatchString(image) {
		return false
	}
	image = withRegistry(image)
	for _, entry := range entries {
		entry = strings.TrimSuffix(entry, "/")
		if strings.HasPrefix(image, entry+"/") ||
			strings.Contains(entry, "/") && (image == entry || strings.HasPrefix(image, entry+":") || strings.HasPrefix(image, entry+"@")) {
			return true
		}
	}
	return false
}

// celFromRegistry is the same in CEL.
func celFromRegistry(image string) string {
	named := fmt.Sprintf("%s.matches('%s')", image, registryPattern)
	full := fmt.Sprintf("(%[1]s ? %[2]s : %[2]s.contains('/') ? 'docker.io/' + %[2]s : 'docker.io/library/' + %[2]s)", named, image)
	return fmt.Sprintf("%s && %s.matches('%s') && ", celParsed(image), image, imagePattern) + fmt.Sprintf("[%s].exists(i, variables.%s.exists(e, "+
		"i.startsWith(e + '/') || e.contains('/') && (i == e || i.startsWith(e + ':') || i.startsWith(e + '@'))))", full, registryEntries)
}

// registryEntries is the variable of the registries and repositories without a slash at the end.
const registryEntries = "registries"

func registryHelpers() []Variable {
	return []Variable{{registryEntries, celList(KeyRegistries) + ".map(e, e.endsWith('/') ? e.substring(0, size(e) - 1) : e)"}}
}
