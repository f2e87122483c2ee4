// Package properties maps the properties of the Apache operator to the settings of Firesteel that take their place.
package properties

import (
	"strings"

	"github.com/magiconair/properties"

	"github.com/firesteel-dev/firesteel/pkg/dialect"
)

// Prefix begins the names of the operator's properties.
const Prefix = "spark.kubernetes.operator."

// File is the name of the operator's properties file.
const File = "spark-operator.properties"

// Page explains each property.
const Page = "docs/operators/configuration.md#from-the-apache-operators-settings"

// seconds are the settings of properties with a number of seconds. texts are the settings of properties whose value stays the same.
var (
	seconds = map[string]dialect.Setting{
		"leaderElection.leaseDurationSeconds": {ConfigMap: "config-leader-election", Key: "lease-duration"},
		"leaderElection.renewDeadlineSeconds": {ConfigMap: "config-leader-election", Key: "renew-deadline"},
		"leaderElection.retryPeriodSeconds":   {ConfigMap: "config-leader-election", Key: "retry-period"},
	}
	texts = map[string]dialect.Setting{
		WatchedNamespaces:          {ConfigMap: "config-scope", Key: "watched-namespaces"},
		"reconciler.labelSelector": {ConfigMap: "config-scope", Key: "label-selector"},
	}
)

// WatchedNamespaces is the property with the namespaces that the operator serves, without the prefix.
const WatchedNamespaces = "watchedNamespaces"

// SettingOf returns the setting that takes the place of a property; false if there is none.
func SettingOf(property, value string) (dialect.Setting, bool) {
	name := strings.TrimPrefix(property, Prefix)
	value = strings.TrimSpace(value)
	if setting, ok := seconds[name]; ok {
		setting.Value = value + "s"
		return setting, true
	}
	setting, ok := texts[name]
	setting.Value = value
	return setting, ok
}

// Load reads a properties file as the operator does.
func Load(text string) (map[string]string, error) {
	loader := properties.Loader{Encoding: properties.UTF8, DisableExpansion: true}
	loaded, err := loader.LoadBytes([]byte(text))
	if err != nil {
		return nil, err
	}
	return loaded.Map(), nil
}
