package schedule

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"
)

// maxRunName leaves room, within the 63 characters of a label, for what is named after a run: its driver Pods, whose
// names end with -999-driver at the longest, its Services and Ingresses.
const maxRunName = 52

// RunName is the name of the run for an instant. It is always the same, so that there is no second one. A name that is
// too long for its runs, or that no Service could have, is shortened or changed, and a hash then tells it from others.
func RunName(schedule string, instant time.Time) string {
	suffix := "-" + strconv.FormatInt(instant.Unix(), 10)
	return label(schedule, maxRunName-len(suffix)) + suffix
}

// LabelValue is the name of a schedule as the value of a label.
func LabelValue(schedule string) string {
	if len(validation.IsValidLabelValue(schedule)) == 0 {
		return schedule
	}
	return label(schedule, validation.LabelValueMaxLength)
}

const hashLength = 8

var notInLabel = regexp.MustCompile(`[^a-z0-9-]`)

// label is a name as a DNS label of RFC 1035 of a limited length.
func label(name string, limit int) string {
	if len(name) <= limit && len(validation.IsDNS1035Label(name)) == 0 {
		return name
	}
	hash := sha256.Sum256([]byte(name))
	text := notInLabel.ReplaceAllString(strings.ToLower(name), "-")
	if text != "" && (text[0] < 'a' || text[0] > 'z') {
		text = "s" + text
	}
	text = text[:min(len(text), limit-hashLength-1)]
	return strings.TrimRight(text, "-") + "-" + hex.EncodeToString(hash[:])[:hashLength]
}
