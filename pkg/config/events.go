package config

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/firesteel-dev/firesteel/pkg/policy"
)

// Events holds the settings for the delivery of events.
type Events struct {
	// DeletionGrace is how long a deleted application may wait until the sink has acknowledged its events.
	DeletionGrace time.Duration
	// FailureMessages includes the exception and the termination message of a failed driver in its events.
	FailureMessages bool
	// UsageLabels are the names of the labels of applications by which the metrics of usage are counted.
	UsageLabels []string
}

// maxUsageLabels bounds the labels of metrics. Each makes more time series.
const maxUsageLabels = 4

// NewEvents reads config-events.
func NewEvents(configMap *corev1.ConfigMap) (*Events, error) {
	events := &Events{DeletionGrace: 5 * time.Minute}
	err := Keys{
		"deletion-grace":   nonNegativeDuration(&events.DeletionGrace),
		"failure-messages": boolean(&events.FailureMessages),
		"usage-labels":     labelNames(&events.UsageLabels, maxUsageLabels),
	}.Read(EventsName, configMap)
	return events, err
}

// boolean reads a switch. It accepts true, on and enabled, and their opposites.
func boolean(into *bool) func(key, value string) error {
	return func(key, value string) error {
		switch strings.ToLower(strings.TrimSpace(value)) {
		case "true", "on", "enabled":
			*into = true
		case "false", "off", "disabled":
			*into = false
		default:
			return InvalidValue(key, value, "write enabled or disabled")
		}
		return nil
	}
}

// labelNames reads the names of labels, with commas between them.
func labelNames(into *[]string, most int) func(key, value string) error {
	return func(key, value string) error {
		*into = nil
		for _, name := range policy.SplitList(value) {
			if len(validation.IsQualifiedName(name)) > 0 {
				return InvalidValue(key, name, "write the names of labels, with commas between them, such as team, example.com/cost-center")
			}
			if !slices.Contains(*into, name) {
				*into = append(*into, name)
			}
		}
		if len(*into) > most {
			return InvalidValue(key, value, fmt.Sprintf("name no more than %d labels", most))
		}
		return nil
	}
}

// nonNegativeDuration reads a duration of zero or more.
func nonNegativeDuration(into *time.Duration) func(key, value string) error {
	return func(key, value string) error {
		parsed, err := time.ParseDuration(value)
		if err != nil || parsed < 0 {
			return InvalidValue(key, value, "write a time of zero or more with its unit, such as 90s or 5m")
		}
		*into = parsed
		return nil
	}
}
