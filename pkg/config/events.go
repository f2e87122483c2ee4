package config

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Events are the settings of the delivery of events.
type Events struct {
	// DeletionGrace is how long a deleted application may wait for its events to be taken.
	DeletionGrace time.Duration
}

// NewEvents reads config-events.
func NewEvents(configMap *corev1.ConfigMap) (*Events, error) {
	events := &Events{DeletionGrace: 5 * time.Minute}
	err := Keys{
		"deletion-grace": notNegative(&events.DeletionGrace),
	}.Read(EventsName, configMap)
	return events, err
}

// notNegative reads a time of zero or more.
func notNegative(into *time.Duration) func(key, value string) error {
	return func(key, value string) error {
		given, err := time.ParseDuration(value)
		if err != nil || given < 0 {
			return Refuse(key, value, "write a time of zero or more with its unit, such as 90s or 5m")
		}
		*into = given
		return nil
	}
}
