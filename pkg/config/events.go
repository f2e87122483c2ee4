package config

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Events are the settings of the delivery of events.
type Events struct {
	// DeletionGrace is how long a deleted application may wait for its events to be taken.
	DeletionGrace time.Duration
	// FailureMessages has events carry what a failed driver left: its exception and its termination message.
	FailureMessages bool
}

// NewEvents reads config-events.
func NewEvents(configMap *corev1.ConfigMap) (*Events, error) {
	events := &Events{DeletionGrace: 5 * time.Minute}
	err := Keys{
		"deletion-grace":   nonNegativeDuration(&events.DeletionGrace),
		"failure-messages": boolean(&events.FailureMessages),
	}.Read(EventsName, configMap)
	return events, err
}

// boolean reads whether something is on. Each pair of words that the field has for it will do.
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

// nonNegativeDuration reads a time of zero or more.
func nonNegativeDuration(into *time.Duration) func(key, value string) error {
	return func(key, value string) error {
		given, err := time.ParseDuration(value)
		if err != nil || given < 0 {
			return InvalidValue(key, value, "write a time of zero or more with its unit, such as 90s or 5m")
		}
		*into = given
		return nil
	}
}
