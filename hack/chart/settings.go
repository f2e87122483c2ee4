package main

import (
	"fmt"
	"math"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"

	"github.com/firesteel-dev/firesteel/pkg/policy"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// Parts of patterns.
const (
	// goDuration is a duration of Go of zero or more.
	goDuration = `\+?(0|(([0-9]+\.?[0-9]*|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)`
	subdomain  = dnsLabel + `(\.` + dnsLabel + `)*`
	// namespace is the name of a namespace.
	namespace = `[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?`
	// labelName is the key of a label or annotation without its prefix. A value of a label is one, too, or empty.
	labelName = `[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?`
	labelKey  = `(` + subdomain + `/)?` + labelName
	// separator is between the entries of a list.
	separator = `[,\s]`
	// placeholder is what URL formats may have in place of characters.
	placeholder = `\{\{\s*\$(appName|appNamespace|appId)\s*\}\}`
	// container is Azure's, before the host of its account.
	container   = `[a-z0-9](-?[a-z0-9]){2,62}`
	templateURL = `(([Hh][Tt][Tt][Pp][Ss]|[Ss]3[Aa]?|[Gg][Ss]|[Aa][Zz][Bb][Ll][Oo][Bb]|[Cc][Oo][Nn][Ff][Ii][Gg][Mm][Aa][Pp])://|[Aa][Bb][Ff][Ss][Ss]?://` + container + `@)` +
		`[^\s/@?#]+(/[A-Za-z0-9._~+=@,:-]+)*/?(\?\S*)?`
)

// archiveURL is the URL of a bucket or of a folder, without credentials.
const archiveURL = `((s3|gs|azblob)://[^\s/@?#]+([/?]\S*)?|file:///\S*)`

// byteCount is a size such as 10Gi.
func byteCount() schema {
	return either(schema{"type": "integer", "minimum": 0}, matching(`^\s*\+?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+|[numkMGTPE]|[KMGTPE]i)?\s*$`))
}

func duration() schema        { return matching(`^` + goDuration + `$`) }
func trimmedDuration() schema { return matching(`^\s*` + goDuration + `\s*$`) }
func trimmed(pattern string) schema {
	return matching(`^\s*(` + pattern + `)?\s*$`)
}

// positiveDuration is a duration of Go above zero.
func positiveDuration() schema {
	d := duration()
	d["allOf"] = []schema{{"pattern": `[1-9]`}}
	return d
}

// oneUpTo is upTo from one on.
func oneUpTo(most int) schema {
	return either(schema{"type": "integer", "minimum": 1, "maximum": most}, schema{
		"type": "string", "allOf": []any{matching(`^\s*\+?0*(` + numbersUpTo(fmt.Sprint(most)) + `)\s*$`), matching(`[1-9]`)},
	})
}

// upTo is a number from zero to most that may be written as a string.
func upTo(most int) schema {
	return either(schema{"type": "integer", "minimum": 0, "maximum": most}, matching(`^\s*\+?0*(`+numbersUpTo(fmt.Sprint(most))+`)\s*$`))
}

// numbersUpTo returns the pattern of numbers up to one of several digits: those with fewer digits, those that have a smaller digit
// somewhere after the same ones, and itself.
func numbersUpTo(most string) string {
	ways := []string{fmt.Sprintf(`[0-9]{1,%d}`, len(most)-1)}
	for i, digit := range most {
		least := '0'
		if i == 0 {
			least = '1'
		}
		if digit > least {
			ways = append(ways, fmt.Sprintf(`%s[%c-%c][0-9]{%d}`, most[:i], least, digit-1, len(most)-i-1))
		}
	}
	return strings.Join(append(ways, most), "|")
}

// listOfUpTo is a text with entries between commas and white space.
func listOfUpTo(most int, entry string) schema {
	return matching(fmt.Sprintf(`^%[1]s*(%[2]s(%[1]s+%[2]s){0,%[3]d}%[1]s*)?$`, separator, entry, most-1))
}

// systemPrefix matches the beginning of names that Kubernetes keeps for itself.
const systemPrefix = `[sS][yY][sS][tT][eE][mM]:`

// groups takes names of groups of users, of which none is Kubernetes' own.
func groups() schema {
	list := listOfUpTo(64, `[^,\s]+`)
	list["not"] = matching(`(^|[,\s])` + systemPrefix)
	return list
}

// propertyKeys takes keys of Spark properties. One may end with a star.
func propertyKeys() schema {
	return matching(`^` + separator + `*(spark\.[^,\s*]*\*?(` + separator + `+|$))*$`)
}

// urlFormat takes a host and a path with placeholders.
func urlFormat() schema {
	return matching(`^\s*(([A-Za-z][-+.A-Za-z0-9]*://)?([^/@?#\s]*@)?([-.a-z0-9]|` + placeholder + `)+([/?#]([^{}$]|` + placeholder + `)*)?)?\s*$`)
}

// gateway takes a Gateway with the format of the URLs that lead to it.
func gateway() schema {
	o := closed()
	allow(o, "name", matching(`^`+subdomain+`$`))
	allow(o, "namespace", matching(`^(`+namespace+`)?$`))
	allow(o, "listener", matching(`^(`+subdomain+`)?$`))
	allow(o, "urlFormat", urlFormat())
	o["required"] = []string{"name", "urlFormat"}
	return o
}

// sparkVersions takes versions of the lines of Spark that Firesteel knows, and nothing for the newest.
func sparkVersions() schema {
	const majors, minors = 10, 30
	var lines []string
	for major := range majors {
		for minor := range minors {
			if _, known := submission.RulesFor(fmt.Sprintf("%d.%d", major, minor)); known {
				lines = append(lines, fmt.Sprintf(`%d[._]0*%d`, major, minor))
			}
		}
	}
	return matching(`^\s*$|(^|[^0-9])0*(` + strings.Join(lines, "|") + `)($|[^0-9])`)
}

// keyed is a map whose keys match a pattern.
func keyed(keys string, value schema) schema {
	o := mapOf(value)
	o["propertyNames"] = matching(`^` + keys + `$`)
	return o
}

// templateURLs takes URLs of folders with pod templates, between white space.
func templateURLs() schema { return matching(`^\s*(` + templateURL + `(\s+|$))*$`) }

// buckets takes numbers, separated by commas.
func buckets() schema { return matching(`^[-+0-9.eEinfINF,\s]+$`) }

// schedulers takes names of schedulers.
func schedulers() schema { return matching(`^[,\s]*(` + subdomain + `[,\s]*)*$`) }

// podSecurityUser takes the number of a user that is not root, and image.
func podSecurityUser() schema {
	const most = math.MaxInt32
	number := matching(`^\s*\+?0*(` + numbersUpTo(fmt.Sprint(most)) + `)\s*$`)
	number["allOf"] = []schema{{"pattern": `[1-9]`}}
	return either(schema{"type": "integer", "minimum": 1, "maximum": most}, number, matching(`^\s*image\s*$`))
}

func enabledOrDisabled() schema { return oneOf("enabled", "disabled") }

// upToDigits is a number of executors or workers.
func upToDigits() schema {
	return either(schema{"type": "integer", "minimum": 0, "maximum": 999_999_999}, trimmed(`[0-9]{1,9}`))
}

// cores is a number of cores from one on.
func cores() schema {
	return either(schema{"type": "number", "minimum": 1, "maximum": 999_999_999},
		trimmed(`0*[1-9][0-9]{0,8}([.][0-9]{1,9})?|0*[1-9][0-9]{3,8}([.][0-9]{1,9})?m`))
}

// price is an amount of money.
func price() schema {
	return either(schema{"type": "number", "minimum": 0, "maximum": 1_000_000}, trimmed(`[0-9]{1,7}(\.[0-9]{1,12})?([eE]-[0-9]{1,2})?`))
}

// size is a size of memory above zero.
func size() schema {
	s := trimmed(`[0-9]{1,15}([bB]|[kKmMgGtTpP]([iI]?[bB])?)?`)
	s["allOf"] = []schema{{"pattern": `^\s*$|[1-9]`}}
	return s
}

// settings holds the schema of each key of each ConfigMap. A test compares it with pkg/config.
var settings = map[string]map[string]schema{
	"config-scope": {
		"watched-namespaces": matching(`^\s*(\*|` + namespace + `(\s*,\s*` + namespace + `)*)?\s*$`),
		"namespace-selector": text(),
		"label-selector":     text(),
		"access":             oneOf("cluster", "namespaces"),
	},
	"config-defaults": {
		"image":                  text(),
		"spark-defaults.conf":    text(),
		"applicationTolerations": either(text(), tolerations()),
		"active-deadline":        trimmedDuration(),
		"driver-log-lines":       upTo(100),
		"driver-service":         oneOf("headless", "none"),
		"driver-config-maps":     oneOf("separate", "one"),
		"driver-service-account": trimmed(subdomain),
		"pod-template-urls":      templateURLs(),
		"batch-schedulers":       schedulers(),
		"pod-security":           oneOf("off", "restricted"),
		"pod-security-user":      podSecurityUser(),
		"ui-service-type":        oneOf("none", "ClusterIP", "NodePort"),
		"ui-node-host":           matching(nodeHost),
	},
	"config-kubeflow": {
		"spark-defaults.conf":            text(),
		"denied-spark-properties":        propertyKeys(),
		"discouraged-spark-properties":   propertyKeys(),
		"default-time-to-live":           trimmedDuration(),
		"driver-start-timeout":           trimmedDuration(),
		"executors-start-timeout":        trimmedDuration(),
		"active-deadline":                trimmedDuration(),
		"force-termination-grace":        duration(),
		"max-tracked-executors":          upTo(5000),
		"driver-pod-disruption-budget":   enabledOrDisabled(),
		"batch-schedulers":               schedulers(),
		"default-batch-scheduler":        text(),
		"ui-service":                     enabledOrDisabled(),
		"ui-service-type":                oneOf("NodePort", "ClusterIP"),
		"ingress-url-format":             urlFormat(),
		"ui-gateway":                     either(text(), gateway()),
		"ui-node-host":                   matching(nodeHost),
		"ingress-class-name":             trimmed(subdomain),
		"ingress-tls":                    either(text(), typed[[]networkingv1.IngressTLS]()),
		"ingress-annotations":            either(text(), keyed(labelKey, text())),
		"driver-log-lines":               upTo(100),
		"driver-service":                 oneOf("headless", "none"),
		"driver-config-maps":             oneOf("separate", "one"),
		"driver-service-account":         trimmed(subdomain),
		"pod-template-urls":              templateURLs(),
		"pod-security":                   oneOf("off", "restricted"),
		"pod-security-user":              podSecurityUser(),
		"metrics-prefix":                 text(),
		"metrics-labels":                 text(),
		"metrics-submit-latency-buckets": buckets(),
		"metrics-start-latency-buckets":  buckets(),
	},
	"config-namespaces": {
		"labels":           either(text(), keyed(labelKey, matching(`^(`+labelName+`)?$`))),
		"service-accounts": matching(`^` + separator + `*` + subdomain + `(` + separator + `+` + subdomain + `){0,31}` + separator + `*$`),
		"driver-role":      matching(`^\s*` + subdomain + `\s*$`),
		"resource-quota":   either(text(), typed[corev1.ResourceQuotaSpec]()),
		"limit-range":      either(text(), typed[corev1.LimitRangeSpec]()),
		"network-policy":   either(text(), typed[networkingv1.NetworkPolicySpec]()),
	},
	"config-early": {
		"image-replacements": listOfUpTo(64, `[^,=\s]+=[^,=*\s]+`),
		"spark-version":      sparkVersions(),
		"ui-service-type":    oneOf("NodePort", "ClusterIP"),
		"ui-gateway":         either(text(), gateway()),
	},
	"config-console": {
		"url":       trimmed(`[Hh][Tt][Tt][Pp][Ss]://[^\s/@?#]+(/[^\s?#]*)?`),
		"audiences": listOfUpTo(8, `[^,\s]+`),
		"actions":   oneOf("none", "allowed"),
		"spark-uis": trimmed(`(https://\*\.[^\s/@?#*]+|http://\*\.localhost(:[0-9]+)?)/?`),

		"impersonation-groups": groups(),

		"history-server": trimmed(`https?://[^\s/@?#*]+/?`),

		"team-label": trimmed(labelKey),
		"user-label": trimmed(labelKey),

		"price-core-hour": price(),
		"price-gib-hour":  price(),
		"price-gpu-hour":  price(),
		"price-currency":  trimmed(`\S{1,16}`),
	},
	"config-admission": {
		"quota":              oneOf("off", "hold", "fail"),
		"quota-overtake":     trimmedDuration(),
		"quota-hold-timeout": trimmedDuration(),

		policy.KeyDenied:         propertyKeys(),
		policy.KeyExecutors:      upToDigits(),
		policy.KeyWorkers:        upToDigits(),
		policy.KeyDriverMemory:   size(),
		policy.KeyExecutorMemory: size(),
		policy.KeyDriverCores:    cores(),
		policy.KeyExecutorCores:  cores(),
		policy.KeyLabels:         matching(`^` + separator + `*(` + labelKey + `(` + separator + `+|$))*$`),
		policy.KeyRegistries:     matching(`^` + separator + `*(([^/,\s]*[.:A-Z][^/,\s]*|localhost)(/[^,\s]*)?(` + separator + `+|$))*$`),
		policy.KeyTimeToLive:     trimmed(`required|optional`),
		policy.KeyHostPath:       trimmed(`denied|allowed`),
		policy.KeyHostNamespaces: trimmed(`denied|allowed`),
		policy.KeyPrivileged:     trimmed(`denied|allowed`),
	},
	"config-handlers": {
		"restart":   oneOf("in-process", "external"),
		"archive":   oneOf("in-process", "external"),
		"ttl":       oneOf("in-process", "external"),
		"schedule":  oneOf("in-process", "external"),
		"namespace": oneOf("off", "in-process", "external"),
	},
	"config-archive": {
		"url":             trimmed(archiveURL),
		"namespaces":      either(text(), keyed(namespace, matching(`^`+archiveURL+`$`))),
		"retention-age":   duration(),
		"retention-bytes": byteCount(),
		"event-logs":      oneOf("off", "image", "sidecar"),

		"event-logs-image":     trimmed(`[^\s]+`),
		"event-logs-service":   trimmed(`[Hh][Tt][Tt][Pp][Ss]?://[^\s/@?#]+(/[^\s?#]*)?`),
		"event-logs-ca":        text(),
		"event-logs-resources": either(text(), schema{"type": "object"}),
		"event-logs-volume":    byteCount(),

		"driver-logs":    oneOf("none", "end", "follow"),
		"executor-logs":  oneOf("none", "end", "follow"),
		"cluster-logs":   oneOf("none", "follow"),
		"max-log-bytes":  byteCount(),
		"open-streams":   oneUpTo(1000),
		"flush-interval": positiveDuration(),
		"wait":           positiveDuration(),
	},
	"config-events": {
		"deletion-grace":   duration(),
		"failure-messages": either(schema{"type": "boolean"}, matching(`^\s*([Tt]rue|[Ff]alse|[Oo]n|[Oo]ff|[Ee]nabled|[Dd]isabled|TRUE|FALSE|ON|OFF|ENABLED|DISABLED)\s*$`)),
		"usage-labels":     matching(`^[-A-Za-z0-9._/,\s]*$`),
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
		"metrics-export-interval": positiveDuration(),
		"tracing-protocol":        oneOf("none", "grpc", "http/protobuf", "stdout"),
		"tracing-endpoint":        text(),
		"tracing-sampling-rate":   either(schema{"type": "number", "minimum": 0, "maximum": 1}, matching(`^[0-9.eE+-]+$`)),
		"runtime-profiling":       enabledOrDisabled(),
		"runtime-export-interval": positiveDuration(),
	},
	"config-leader-election": {
		"lease-duration": positiveDuration(),
		"renew-deadline": positiveDuration(),
		"retry-period":   positiveDuration(),
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
