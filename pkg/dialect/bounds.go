package dialect

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/outbox"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// The annotations that bound the time of one application.
const (
	AnnotationDriverStart    = "firesteel.dev/driver-start-timeout"
	AnnotationExecutorsStart = "firesteel.dev/executors-start-timeout"
	AnnotationActiveDeadline = "firesteel.dev/active-deadline"
)

// BoundAnnotations are the names of these annotations.
var BoundAnnotations = []string{AnnotationDriverStart, AnnotationExecutorsStart, AnnotationActiveDeadline}

// MaxBound is the longest time limit.
const MaxBound = 10 * 365 * 24 * time.Hour

// ParseBound parses a time limit; 0s means none.
func ParseBound(text string) (limit time.Duration, ok bool) {
	limit, err := time.ParseDuration(strings.TrimSpace(text))
	return limit, err == nil && limit >= 0 && limit <= MaxBound
}

// Bound is a time limit with a text that names its source. Zero means none.
type Bound struct {
	Limit  time.Duration
	Source string
}

// BoundOf returns the limit that an annotation of an application sets. If the annotation sets none, it returns otherwise.
func BoundOf(app metav1.Object, annotation string, otherwise Bound) Bound {
	limit, ok := ParseBound(app.GetAnnotations()[annotation])
	switch {
	case ok && limit == 0, !ok && otherwise.Limit <= 0:
		return Bound{}
	case ok:
		return Bound{Limit: limit, Source: "the annotation " + annotation}
	default:
		return otherwise
	}
}

// AnnotationWarnings warns of annotations that have no effect: values that are not a time limit, and unknown names of time
// limits.
func AnnotationWarnings(app metav1.Object) finding.List {
	const field = "metadata.annotations"
	var found finding.List
	annotations := app.GetAnnotations()
	for _, name := range BoundAnnotations {
		value, set := annotations[name]
		if _, ok := ParseBound(value); set && !ok {
			found.Warn(finding.Entry(field, name), clippedValue(value), fmt.Sprintf("has no effect, it is no time from 0s to %s", MaxBound),
				"write one such as 10m, or 0s for no limit")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(annotations)) {
		ours := strings.HasPrefix(name, "firesteel.dev/") && (strings.HasSuffix(name, "-timeout") || strings.HasSuffix(name, "-deadline"))
		if ours && !slices.Contains(BoundAnnotations, name) {
			found.Warn(finding.Entry(field, name), nil, "has no effect, there is no such annotation", "write one of "+strings.Join(BoundAnnotations, ", "))
		}
	}
	found = append(found, driverService.warnings(app)...)
	found = append(found, driverConfigMaps.warnings(app)...)
	slices.SortFunc(found, func(a, b finding.Finding) int { return strings.Compare(a.Field, b.Field) })
	return found
}

// clippedValue shortens a value so that a message stays readable.
func clippedValue(value string) string { return outbox.Clip(value, 64) }

// WantedExecutors returns the smallest number of executors that Spark properties ask for. A fixed number counts in full.
// With dynamic allocation it is the minimum. It is 0 for a driver that runs alone, and for an invalid number.
func WantedExecutors(property func(key string) string, otherwise int) int {
	text := property("spark.executor.instances")
	switch {
	case strings.HasPrefix(strings.TrimSpace(property("spark.kubernetes.driver.master")), "local"):
		return 0
	case submission.DynamicAllocation(property):
		text, otherwise = property("spark.dynamicAllocation.minExecutors"), 0
	}
	if text == "" {
		return otherwise
	}
	number, err := strconv.ParseInt(strings.TrimSpace(text), 10, 32)
	if err != nil {
		return 0
	}
	return int(max(number, 0))
}
