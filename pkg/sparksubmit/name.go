package sparksubmit

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/firesteel-dev/firesteel/internal/lazy"
)

// maxName leaves room for the suffixes that objects of an application add to its name.
const maxName = 40

var notInName = lazy.Regexp(`[^a-z0-9]+`)

// ObjectName returns a name for the object of an application. same reports whether it is the application's own name.
func ObjectName(name string) (objectName string, same bool) {
	if len(name) <= maxName && len(validation.IsDNS1035Label(name)) == 0 {
		return name, true
	}
	if at := strings.LastIndex(name, "."); at >= 0 && !strings.ContainsAny(name, " /") {
		name = shortName(name, at)
	}
	objectName = strings.Trim(notInName().ReplaceAllString(strings.ToLower(name), "-"), "-")
	objectName = strings.Trim(objectName[:min(len(objectName), maxName)], "-")
	switch {
	case objectName == "":
		return "spark", false
	case objectName[0] >= '0' && objectName[0] <= '9':
		return ("spark-" + objectName)[:min(len("spark-")+len(objectName), maxName)], false
	default:
		return objectName, false
	}
}

// fileSuffix matches the suffixes of application files.
var fileSuffix = lazy.Regexp(`\.(jar|py|[rR])$`)

// shortName returns the last part of the name of a class, with a hyphen between words, or the name of a file without its suffix. at is the offset of
// the last dot.
func shortName(name string, at int) string {
	if fileSuffix().MatchString(name) {
		return name[:at]
	}
	return wordBoundary().ReplaceAllString(strings.TrimSuffix(name[at+1:], "$"), "$1-$2")
}

// wordBoundary matches the end of a word and the beginning of the next in the name of a class.
var wordBoundary = lazy.Regexp(`([a-z0-9])([A-Z])`)
