package main

import "fmt"

// Parts of patterns.
const (
	// goDuration is a duration of Go of zero or more.
	goDuration = `\+?(0|(([0-9]+\.?[0-9]*|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)`
	subdomain  = dnsLabel + `(\.` + dnsLabel + `)*`
)

func duration() schema        { return matching(`^` + goDuration + `$`) }
func trimmedDuration() schema { return matching(`^\s*` + goDuration + `\s*$`) }
func trimmed(pattern string) schema {
	return matching(`^\s*(` + pattern + `)?\s*$`)
}

// number is a number that may be written as a string.
func number(least, most int) schema {
	return either(schema{"type": "integer", "minimum": least, "maximum": most}, matching(`^\s*\+?[0-9]+\s*$`))
}

// buckets takes numbers, separated by commas.
func buckets() schema { return matching(`^[-+0-9.eEinfINF,\s]+$`) }

func enabledOrDisabled() schema { return oneOf("enabled", "disabled") }

// settings holds the schema of each key of each ConfigMap. A test compares it with pkg/config.
var settings = map[string]map[string]schema{
	"config-scope": {
		"watched-namespaces": matching(`^\s*(\*|` + dnsLabel + `(\s*,\s*` + dnsLabel + `)*)?\s*$`),
		"namespace-selector": text(),
		"label-selector":     text(),
		"access":             oneOf("cluster", "namespaces"),
	},
	"config-defaults": {
		"image":                  text(),
		"spark-defaults.conf":    text(),
		"applicationTolerations": either(text(), schema{"type": "object"}),
		"active-deadline":        trimmedDuration(),
		"driver-log-lines":       number(0, 100),
		"driver-service":         oneOf("headless", "none"),
		"driver-service-account": trimmed(subdomain),
		"pod-template-urls":      text(),
		"ui-service-type":        oneOf("none", "ClusterIP", "NodePort"),
		"ui-node-host":           matching(nodeHost),
	},
	"config-kubeflow": {
		"spark-defaults.conf":            text(),
		"denied-spark-properties":        matching(`^[,\s]*(spark\.[^,\s]+[,\s]*)*$`),
		"discouraged-spark-properties":   matching(`^[,\s]*(spark\.[^,\s]+[,\s]*)*$`),
		"default-time-to-live":           trimmedDuration(),
		"driver-start-timeout":           trimmedDuration(),
		"executors-start-timeout":        trimmedDuration(),
		"active-deadline":                trimmedDuration(),
		"force-termination-grace":        duration(),
		"max-tracked-executors":          number(0, 5000),
		"driver-pod-disruption-budget":   enabledOrDisabled(),
		"batch-schedulers":               matching(`^[,\s]*(` + subdomain + `[,\s]*)*$`),
		"default-batch-scheduler":        text(),
		"ui-service":                     enabledOrDisabled(),
		"ui-service-type":                oneOf("NodePort", "ClusterIP"),
		"ingress-url-format":             text(),
		"ui-gateway":                     either(text(), schema{"type": "object"}),
		"ui-node-host":                   matching(nodeHost),
		"ingress-class-name":             trimmed(subdomain),
		"ingress-tls":                    either(text(), listOf(schema{"type": "object"})),
		"ingress-annotations":            either(text(), mapOf(text())),
		"driver-log-lines":               number(0, 100),
		"driver-service":                 oneOf("headless", "none"),
		"driver-service-account":         trimmed(subdomain),
		"pod-template-urls":              text(),
		"metrics-prefix":                 text(),
		"metrics-labels":                 text(),
		"metrics-submit-latency-buckets": buckets(),
		"metrics-start-latency-buckets":  buckets(),
	},
	"config-namespaces": {
		"labels":           either(text(), mapOf(text())),
		"service-accounts": matching(`^[,\s]*(` + subdomain + `[,\s]*)+$`),
		"driver-role":      matching(`^\s*` + subdomain + `\s*$`),
		"resource-quota":   either(text(), schema{"type": "object"}),
		"limit-range":      either(text(), schema{"type": "object"}),
		"network-policy":   either(text(), schema{"type": "object"}),
	},
	"config-early": {
		"image-replacements": matching(`^[,\s]*([^,=*\s]*[^=,\s]*=[^,=*\s]+[,\s]*)*$`),
		"spark-version":      text(),
		"ui-service-type":    oneOf("NodePort", "ClusterIP"),
		"ui-gateway":         either(text(), schema{"type": "object"}),
	},
	"config-handlers": {
		"restart":   oneOf("in-process", "external"),
		"ttl":       oneOf("in-process", "external"),
		"schedule":  oneOf("in-process", "external"),
		"namespace": oneOf("off", "in-process", "external"),
	},
	"config-events": {
		"deletion-grace":   duration(),
		"failure-messages": either(schema{"type": "boolean"}, matching(`^\s*([Tt]rue|[Ff]alse|[Oo]n|[Oo]ff|[Ee]nabled|[Dd]isabled|TRUE|FALSE|ON|OFF|ENABLED|DISABLED)\s*$`)),
	},
	"config-clusters": {
		"master-start-timeout": duration(),
	},
	"config-logging": {
		"loglevel.controller": oneOf("debug", "info", "warn", "error"),
		"zap-logger-config":   text(),
	},
	"config-observability": {
		"metrics-protocol":        oneOf("none", "prometheus", "grpc", "http/protobuf"),
		"metrics-endpoint":        text(),
		"metrics-export-interval": duration(),
		"tracing-protocol":        oneOf("none", "grpc", "http/protobuf", "stdout"),
		"tracing-endpoint":        text(),
		"tracing-sampling-rate":   either(schema{"type": "number", "minimum": 0, "maximum": 1}, matching(`^[0-9.eE+-]+$`)),
		"runtime-profiling":       enabledOrDisabled(),
		"runtime-export-interval": duration(),
	},
	"config-leader-election": {
		"lease-duration": duration(),
		"renew-deadline": duration(),
		"retry-period":   duration(),
		"buckets":        either(schema{"type": "integer", "minimum": 1, "maximum": 10}, matching(`^([1-9]|10)$`)),
	},
}

// nodeHost matches a name, an IP, or nothing.
const nodeHost = `^\s*([A-Za-z0-9.:-]*)\s*$`

// leasePrefix matches the keys of shorter names for leases.
const leasePrefix = `^map-lease-prefix\..+$`

// settingsOf returns the schema of the settings of a ConfigMap.
func settingsOf(name, description string) (schema, error) {
	keys := settings[name]
	if keys == nil {
		return nil, fmt.Errorf("values.yaml: settings.%s has no keys: list them in hack/chart/settings.go", name)
	}
	o := closed()
	o["description"] = description
	for key, property := range keys {
		allow(o, key, property)
	}
	if name == "config-leader-election" {
		o["patternProperties"] = schema{leasePrefix: text()}
		o["propertyNames"] = either(o["propertyNames"].(schema), schema{"pattern": leasePrefix})
	}
	return o, nil
}
