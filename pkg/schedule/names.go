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

// maxRunName leaves room, within the 63 characters of a label, for names derived from a run: driver Pods, with a
// suffix of at most -999-driver, Services and Ingresses.
const maxRunName = 52

// RunName returns the name of the run for an instant. It is deterministic, so that there is never a second run. A
// name that is too long, or that no Service could have, is shortened or changed, and gets a hash to keep it unique.
func RunName(schedule string, instant time.Time) string {
	suffix := "-" + strconv.FormatInt(instant.Unix(), 10)
	return label(schedule, maxRunName-len(suffix)) + suffix
}

// LabelValue returns the name of a schedule as the value of a label.
func LabelValue(schedule string) string {
	if len(validation.IsValidLabelValue(schedule)) == 0 {
		return schedule
	}
	return label(schedule, validation.LabelValueMaxLength)
}

const hashLength = 8

var notInLabel = regexp.MustCompile(`[^a-z0-9-]`)

// label converts a name to a DNS label of RFC 1035 of a limited length.
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
